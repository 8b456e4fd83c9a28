// Package names looks up what settings name: themes, providers, models, tools,
// extensions, keys. Whether a value is of the right type says package config;
// whether what it names is there can be told only in a place.
package names

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/keys"
)

// A Kind is how sure a finding is.
type Kind uint8

// The kinds of findings.
const (
	Unseen Kind = iota // nothing here has the name; it may come later
	Typo               // and something else nearly has it
	Wrong              // it can never be right
)

// A Finding says that a setting names what is not there.
type Finding struct {
	Kind    Kind
	Message string // begins with the name of the setting
	Remedy  string
}

func (f *Finding) Error() string { return f.Message + "; " + f.Remedy }

// Places is where names are looked up.
type Places struct {
	Workspace *workspace.Workspace
	Version   string // of zot
	// Catalogue lists the providers and models that can be chosen among.
	Catalogue func(*workspace.Workspace) (*provider.Catalogue, error)
}

// Names tells whether the value of a setting is a name that [Places.Check] can
// look up.
func Names(path []string) bool { return checkOf(path) != nil }

// Check looks up what value, as the settings file would hold it, names. It is
// nil where all is there, and for settings that name nothing.
func (p Places) Check(path []string, value any) *Finding {
	check := checkOf(path)
	if check == nil {
		return nil
	}
	var items []string
	switch v := value.(type) {
	case string:
		items = []string{v}
	case []string:
		items = v
	}
	for _, item := range items {
		if f := check(p, path, item); f != nil {
			f.Message = config.FormatPath(path) + ": " + f.Message
			return f
		}
	}
	return nil
}

// Save is [Places.Check] for a value that is to be saved: what is wrong, or most
// likely a slip, is an error.
func (p Places) Save(path []string, value any) (doubt *Finding, err error) {
	found := p.Check(path, value)
	if found != nil && found.Kind != Unseen {
		return nil, found
	}
	return found, nil
}

type check func(p Places, path []string, name string) *Finding

func checkOf(path []string) check {
	switch {
	case slices.Equal(path, []string{"theme"}):
		return Places.theme
	case slices.Equal(path, []string{"provider"}), len(path) == 3 && path[0] == "models" && path[2] == "provider":
		return Places.provider
	case slices.Equal(path, []string{"model"}), len(path) == 3 && path[0] == "providers" && path[2] == "model":
		return Places.model
	case slices.Equal(path, []string{"tools"}), slices.Equal(path, []string{"+tools"}):
		return Places.tool
	case slices.Equal(path, []string{"extensions", "disabled"}), slices.Equal(path, []string{"extensions", "+disabled"}):
		return Places.extension
	case len(path) == 2 && path[0] == "keymap":
		return Places.key
	}
	return nil
}

// near says which known name was meant; nil where none is close.
func near(what, name string, known []string) *Finding {
	if meant := schemas.Nearest(name, known); meant != "" {
		return &Finding{Kind: Typo, Message: fmt.Sprintf("there is no %s %q", what, name), Remedy: fmt.Sprintf("did you mean %q?", meant)}
	}
	return nil
}

// unsure makes of a name that is nearly another's one that may come later:
// models and extensions are added every day, under names like those before.
func unsure(f *Finding) *Finding {
	if f != nil {
		f.Kind = Unseen
	}
	return f
}

func (p Places) provider(_ []string, name string) *Finding {
	catalogue, _ := p.Catalogue(p.Workspace) // what can be read of it
	if _, ok := catalogue.Provider(name); ok || name == "" {
		return nil
	}
	var known []string
	for _, info := range catalogue.Providers() {
		known = append(known, info.ID)
	}
	if f := near("provider", name, known); f != nil {
		return f
	}
	return &Finding{Message: fmt.Sprintf("there is no provider %q yet", name),
		Remedy: "to define one: zot config set " + config.FormatPath([]string{"providers", name, "baseURL"}) + " URL"}
}

// model looks only for what is nearly the name of a known model: services have
// models that nobody told zot of.
func (p Places) model(path []string, name string) *Finding {
	chosen := p.Workspace.Settings.Config.Provider
	if path[0] == "providers" {
		chosen = path[1]
	}
	catalogue, _ := p.Catalogue(p.Workspace) // what can be read of it
	if info, ok := catalogue.Provider(chosen); ok {
		chosen = info.ID
	}
	var known []string
	for _, info := range catalogue.Providers() {
		if chosen != "" && info.ID != chosen {
			continue
		}
		if _, ok := catalogue.Find(info.ID, name); ok {
			return nil
		}
		for _, m := range catalogue.Models(info.ID) {
			known = append(known, m.ID)
		}
	}
	if f := near("model", name, known); f != nil {
		f.Message = fmt.Sprintf("no model %q is known", name)
		return unsure(f)
	}
	return nil
}

func (p Places) tool(_ []string, name string) *Finding {
	builtin := []string{"read", "write", "edit", "bash", "skill"}
	if slices.Contains(builtin, name) {
		return nil
	}
	return unsure(near("built-in tool", name, builtin))
}

func (p Places) extension(_ []string, name string) *Finding {
	var known []string
	for _, c := range p.candidates() {
		if strings.EqualFold(c.Name, name) {
			return nil
		}
		known = append(known, c.Name)
	}
	return unsure(near("extension", name, known))
}

// key reads a chord and what is bound to it as the interface does.
func (p Places) key(path []string, what string) *Finding {
	if _, problems := keys.NewMap(map[string]string{path[1]: what}); len(problems) > 0 {
		message, remedy, ok := strings.Cut(strings.TrimPrefix(problems[0], fmt.Sprintf("keymap: %q: ", path[1])), "; ")
		if !ok {
			remedy = `for example "ctrl+p": "/model"`
		}
		return &Finding{Kind: Wrong, Message: message, Remedy: remedy}
	}
	name, _, ok := command.Parse(what)
	if !ok || tui.IsCommand(name) {
		return nil
	}
	var known []string
	for _, c := range tui.BuiltinCommands() {
		known = append(known, "/"+c.Name)
	}
	return unsure(near("built-in command", "/"+name, known))
}

// candidates are all extensions that are here, whether they load or not.
func (p Places) candidates() []*discovery.Candidate {
	plan, err := p.Workspace.Extensions(nil, false, p.Version)
	if err != nil {
		return nil // whoever loads them reports it
	}
	return plan.Candidates
}
