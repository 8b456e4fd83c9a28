package runcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/skill"
)

// Pins are the skills whose texts go along with the first prompt of every new
// conversation, everywhere or in one folder. The file is the user's own, and a
// project has no say in it.
type Pins struct {
	Global   []string            `json:"global"`
	Projects map[string][]string `json:"projects"` // by the folder, links followed
}

// Of lists what is pinned in a folder: its own and the global ones, sorted.
func (p Pins) Of(dir string) []string {
	names := slices.Concat(p.Global, p.Projects[pinKey(dir)])
	slices.Sort(names)
	return slices.Compact(names)
}

func pinKey(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func pinsFile(w *workspace.Workspace) string { return w.Home.Path("skill-pins.json") }

// LoadPins reads the file; one that is missing pins nothing.
func LoadPins(w *workspace.Workspace) (Pins, error) {
	text, err := os.ReadFile(pinsFile(w))
	if errors.Is(err, fs.ErrNotExist) {
		return Pins{}, nil
	}
	if err != nil {
		return Pins{}, err
	}
	return parsePins(pinsFile(w), text)
}

func parsePins(file string, text []byte) (p Pins, err error) {
	if len(text) > 0 {
		if err = json.Unmarshal(text, &p); err != nil {
			err = fmt.Errorf("%s: %w; mend or delete it", file, err)
		}
	}
	return p, err
}

// Pin pins a skill, or takes the pin out, for all folders or for the one that w
// is in. A file that cannot be read is not written over.
func Pin(w *workspace.Workspace, name string, global, on bool) (changed bool, err error) {
	if err := w.Home.Ensure(); err != nil {
		return false, err
	}
	err = w.Home.Update(pinsFile(w), func(old []byte) ([]byte, error) {
		p, err := parsePins(pinsFile(w), old)
		if err != nil {
			return nil, err
		}
		list, key := p.Global, pinKey(w.CWD)
		if !global {
			list = p.Projects[key]
		}
		rest := slices.DeleteFunc(slices.Clone(list), func(n string) bool { return strings.EqualFold(n, name) })
		changed = on == (len(rest) == len(list))
		if on {
			rest = append(rest, name)
		}
		slices.Sort(rest)
		if global {
			p.Global = rest
		} else {
			p.setProject(key, rest)
		}
		if p.Global == nil {
			p.Global = []string{}
		}
		text, err := json.MarshalIndent(p, "", "  ")
		return append(text, '\n'), err
	})
	return changed, err
}

func (p *Pins) setProject(key string, names []string) {
	if p.Projects == nil {
		p.Projects = map[string][]string{}
	}
	p.Projects[key] = names
	if len(names) == 0 {
		delete(p.Projects, key)
	}
}

// Skills are the skills of a session in w, by its settings alone.
func Skills(w *workspace.Workspace) *skill.Set {
	t := &texts{run: &run{flags: &Flags{}}}
	if !w.Settings.Config.Skills.Enabled {
		return &skill.Set{}
	}
	return skill.Discover(t.options(w))
}

// withPins puts the texts of pinned skills behind the first prompt of a
// conversation that is new. What is pinned and not there is said.
func (a *run) withPins(text string) string {
	if a.resumes() || a.flags.NoSkill || len(a.host.Transcript()) > 0 || a.host.Busy() {
		return text
	}
	pins, err := LoadPins(a.planner.workspace())
	if err != nil {
		a.report(event.Notice{Level: "warn", Text: err.Error()})
		return text
	}
	parts := []string{text}
	for _, name := range pins.Of(a.w.CWD) {
		s, ok := a.texts.skills().Find(name)
		if !ok {
			a.texts.once("warn", fmt.Sprintf("the pinned skill %q is not there", name))
			continue
		}
		part, err := s.Invocation("")
		if err != nil {
			a.texts.once("warn", err.Error())
			continue
		}
		parts = append(parts, strings.TrimSpace(part))
	}
	return strings.Join(parts, "\n\n")
}
