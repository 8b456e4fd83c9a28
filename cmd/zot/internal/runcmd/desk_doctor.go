package runcmd

import (
	"context"

	"github.com/patriceckhart/zot/cmd/zot/internal/doctorcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
)

// reportDoctor looks at everything zot depends on; "network" asks the provider
// as well.
func (d *desk) reportDoctor(ctx context.Context, args string) string {
	deps := doctorcmd.Deps{Streams: d.run.streams, Version: version.Number, Provider: ProviderOptions}
	return doctorcmd.Markdown(doctorcmd.Examine(ctx, deps, d.run.w, args == "network"))
}
