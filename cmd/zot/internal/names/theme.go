package names

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/theme"
)

// theme looks among those built in, the user's own, and those of extensions.
func (p Places) theme(_ []string, name string) *Finding {
	known := append([]string{"auto", "dark", "light", "default", "system"}, theme.Builtins()...)
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	if filepath.IsAbs(name) {
		if _, _, err := theme.Load(name); err != nil {
			return &Finding{Message: err.Error(), Remedy: "until it can be read the default theme is shown"}
		}
		return nil
	}
	bundles, unread := p.bundles()
	sources, _ := theme.Sources(p.Workspace.Home.ThemesDir(), bundles)
	for _, s := range sources {
		if strings.EqualFold(s.Name, name) {
			return p.idle(s)
		}
		known = append(known, s.Name)
	}
	f := near("theme", name, known)
	switch {
	case f == nil:
		f = &Finding{Message: fmt.Sprintf("there is no theme %q yet", name), Remedy: "until there is one, the default theme is shown"}
	case len(unread) > 0:
		f = unsure(f)
		f.Remedy += fmt.Sprintf(" It may also come with %s, which cannot be looked into", strings.Join(unread, ", "))
	}
	return f
}

// bundles are the extensions that may bring a theme, and the names of those of
// which it cannot be said.
func (p Places) bundles() (all []theme.Bundle, unread []string) {
	for _, c := range p.candidates() {
		if c.Manifest == nil {
			unread = append(unread, c.Name)
			continue
		}
		all = append(all, theme.Bundle{Extension: c.Name, Dir: c.Dir})
	}
	return all, unread
}

// idle says where a theme is of an extension that does not load.
func (p Places) idle(s theme.Source) *Finding {
	var last *discovery.Candidate
	for _, c := range p.candidates() {
		if s.Extension == "" || c.Name != s.Extension {
			continue
		}
		if c.State == discovery.Load {
			return nil
		}
		last = c
	}
	if last == nil {
		return nil
	}
	return &Finding{Message: fmt.Sprintf("the theme %q comes with the extension %s, which does not load: %s", s.Name, last.Name, last.Reason),
		Remedy: "until it loads the default theme is shown"}
}
