package workspace

import (
	"context"
	"fmt"
)

// FetchTime bounds one fetch from the network, by the setting for it. The
// context's cause says so where it was not enough.
func (w *Workspace) FetchTime(ctx context.Context) (context.Context, context.CancelFunc) {
	most := w.Settings.Config.Timeouts.Network
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("it took longer than %s (timeouts.network)", most))
}
