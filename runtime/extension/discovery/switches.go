package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// Switches are a user's choices to load, or not to load, extensions whose own
// files must not say so: those that come with a project, whose files belong to
// all who work on it, and those of the user's own whose bytes a lock pins. They
// are kept in zot's home.
type Switches struct {
	project, own map[string]bool // by folded name
}

// Of returns the choice for an extension that lies in scope, and whether there
// is one.
func (s Switches) Of(scope Scope, name string) (enabled, set bool) {
	of := s.own
	if scope == ScopeProject {
		of = s.project
	}
	if scope == ScopeFlag {
		return false, false
	}
	enabled, set = of[manifest.Fold(name)]
	return enabled, set
}

const switchesFile = "extensions.json"

// switchDocument is the form of the file. Extensions other than those changed
// keep what they have, unknown keys included.
type switchDocument struct {
	Project    string                     `json:"project,omitempty"` // for people who look at the file
	Extensions map[string]json.RawMessage `json:"extensions"`
}

type switchEntry struct {
	Enabled *bool `json:"enabled,omitempty"`
}

// ProjectID is the name under which zot's home keeps what a user has chosen for
// a project: it depends on the real path of the folder alone.
func ProjectID(projectDir string) string {
	sum := sha256.Sum256([]byte(home.Real(projectDir)))
	return hex.EncodeToString(sum[:])[:24]
}

// switchesPath is the file of a project's switches, or without one of those of
// the user's own extensions.
func switchesPath(zotHome, projectDir string) string {
	if projectDir == "" {
		return filepath.Join(zotHome, switchesFile)
	}
	return filepath.Join(home.Home(zotHome).ProjectDir(ProjectID(projectDir)), switchesFile)
}

// ReadSwitches returns the choices made for a project, which may be empty, and
// for the user's own extensions; none is no error.
func ReadSwitches(zotHome, projectDir string) (s Switches, err error) {
	if zotHome == "" {
		return s, nil
	}
	if s.own, err = readSwitches(switchesPath(zotHome, "")); err != nil || projectDir == "" {
		return s, err
	}
	s.project, err = readSwitches(switchesPath(zotHome, projectDir))
	return s, err
}

func readSwitches(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which extensions are switched: %w", err)
	}
	doc, err := parseSwitches(path, text)
	if err != nil {
		return nil, err
	}
	enabled := map[string]bool{}
	for name, raw := range doc.Extensions {
		var e switchEntry
		if json.Unmarshal(raw, &e) == nil && e.Enabled != nil {
			enabled[manifest.Fold(name)] = *e.Enabled
		}
	}
	return enabled, nil
}

func parseSwitches(path string, text []byte) (switchDocument, error) {
	doc := switchDocument{}
	if err := json.Unmarshal(text, &doc); err != nil {
		return doc, fmt.Errorf("reading %s: %w; mend or delete it", path, err)
	}
	return doc, nil
}

// SetSwitch records a choice for an extension of a project, or without a project
// for one of the user's own. Two instances of zot may do so at once; a file
// that cannot be read is left as it is.
func SetSwitch(zotHome, projectDir, name string, enabled bool) error {
	path := switchesPath(zotHome, projectDir)
	return home.Home(zotHome).Update(path, func(old []byte) ([]byte, error) {
		doc := switchDocument{}
		if old != nil {
			var err error
			if doc, err = parseSwitches(path, old); err != nil {
				return nil, err
			}
		}
		if projectDir != "" {
			doc.Project = home.Real(projectDir)
		}
		if doc.Extensions == nil {
			doc.Extensions = map[string]json.RawMessage{}
		}
		entry, err := withEnabled(doc.Extensions[manifest.Fold(name)], enabled)
		if err != nil {
			return nil, err
		}
		doc.Extensions[manifest.Fold(name)] = entry
		text, err := json.MarshalIndent(doc, "", "  ")
		return append(text, '\n'), err
	})
}

func withEnabled(old json.RawMessage, enabled bool) (json.RawMessage, error) {
	fields := map[string]any{}
	if len(old) > 0 {
		if err := json.Unmarshal(old, &fields); err != nil {
			return nil, err
		}
	}
	fields["enabled"] = enabled
	return json.Marshal(fields)
}
