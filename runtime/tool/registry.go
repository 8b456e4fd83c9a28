package tool

import (
	"slices"
	"strings"
	"sync"
)

// A Registry holds the tools of a session. Built-ins always win their names;
// among extensions, the set handed to [Registry.SetExtensions] has been ranked
// by its owner already. It is safe for concurrent use.
type Registry struct {
	mu       sync.RWMutex
	builtin  []Tool
	external []Tool
	// allowed, when not nil, is all that may be seen: --tools a,b.
	allowed map[string]bool
}

// NewRegistry returns a registry with the given built-in tools.
func NewRegistry(builtin ...Tool) *Registry { return &Registry{builtin: builtin} }

// Restrict hides every tool whose name is not listed, built-in and extension
// alike; an empty list hides all.
func (r *Registry) Restrict(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed = make(map[string]bool, len(names))
	for _, n := range names {
		r.allowed[n] = true
	}
}

// SetExtensions replaces the tools that extensions provide.
func (r *Registry) SetExtensions(tools []Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.external = slices.Clone(tools)
}

// AddBuiltin adds one more built-in tool.
func (r *Registry) AddBuiltin(t Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.builtin = append(r.builtin, t)
}

// Lookup returns the tool that answers to name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	for _, t := range r.All() {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// IsBuiltin reports whether a built-in tool owns name, hidden or not. Case makes
// no difference: a model would take Bash for bash, and a rule for bash would miss
// it.
func (r *Registry) IsBuiltin(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.ContainsFunc(r.builtin, func(t Tool) bool { return strings.EqualFold(t.Spec().Name, name) })
}

// All lists the visible tools, built-ins first, each name once.
func (r *Registry) All() []Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seen := make(map[string]bool, len(r.builtin)+len(r.external))
	var all []Tool
	for _, set := range [][]Tool{r.builtin, r.external} {
		for _, t := range set {
			name := t.Spec().Name
			if seen[name] || (r.allowed != nil && !r.allowed[name]) {
				continue
			}
			seen[name] = true
			all = append(all, t)
		}
	}
	return all
}
