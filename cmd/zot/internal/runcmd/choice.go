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

// Catalogue lists the providers and models that a session in w can choose
// among. With an error it is what could be read, usable still.
func Catalogue(w *workspace.Workspace) (*provider.Catalogue, error) {
	return newConnector(&Flags{}, w).catalogue()
}
