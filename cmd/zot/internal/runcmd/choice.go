package runcmd

import (
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/provider"
)

// ProviderOptions are what a session would ask a model with, by its settings
// alone: for commands that tell of it and do not ask one.
func ProviderOptions(w *workspace.Workspace) (provider.Options, error) {
	return newConnector(&Flags{}, w).options("", "")
}
