package extcmd

import (
	"context"
	"path/filepath"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/transports/wasi"
)

// compile makes the code of a module that was just installed, so that its first
// start does not have to. None of it runs. What is wrong with the module is a
// warning, since whoever installed it may want to look at it.
func (c *command) compile(ctx context.Context, w *workspace.Workspace, r *install.Result) {
	m, _, err := manifest.Load(r.Dir)
	if err != nil || m.Transport != manifest.WASI || !r.Changed {
		return
	}
	err = wasi.Compile(ctx, wasi.Options{
		Path: filepath.Join(r.Dir, filepath.FromSlash(m.Exec)), Name: r.Name, MemPages: wasi.MaxPages,
		Isolation: wasi.Isolation(w.Settings.Config.Extensions.Isolation), Cache: w.Home.ModuleCache(),
	})
	if err != nil {
		r.Warnings = append(r.Warnings, m.Exec+": "+err.Error())
	}
}
