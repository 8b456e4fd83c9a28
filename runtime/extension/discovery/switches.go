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

// Switches are a user's choices to load, or not to load, extensions that come
// with a project. They are kept in zot's home and not in the project, whose
// files belong to all who work on it.
type Switches struct {
	enabled map[string]bool // by folded name
}

// Get returns the choice for name, and whether there is one.
func (s Switches) Get(name string) (enabled, set bool) {
	enabled, set = s.enabled[manifest.Fold(name)]
	return enabled, set
}

// NewSwitches makes switches of names and choices.
func NewSwitches(enabled map[string]bool) Switches {
	s := Switches{enabled: make(map[string]bool, len(enabled))}
	for name, on := range enabled {
		s.enabled[manifest.Fold(name)] = on
	}
	return s
}

const switchesFile = "extensions.json"

// switchDocument is the form of the file. Extensions other than those changed
// keep what they have, unknown keys included.
type switchDocument struct {
	Project    string                     `json:"project"` // for people who look at the file
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

func switchesPath(zotHome, projectDir string) string {
	return filepath.Join(home.Home(zotHome).ProjectDir(ProjectID(projectDir)), switchesFile)
}

// ReadSwitches returns the choices made for a project; none is no error.
func ReadSwitches(zotHome, projectDir string) (Switches, error) {
	if zotHome == "" || projectDir == "" {
		return Switches{}, nil
	}
	path := switchesPath(zotHome, projectDir)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Switches{}, nil
	}
	if err != nil {
		return Switches{}, fmt.Errorf("reading the project's switches: %w", err)
	}
	doc, err := parseSwitches(path, text)
	if err != nil {
		return Switches{}, err
	}
	enabled := map[string]bool{}
	for name, raw := range doc.Extensions {
		var e switchEntry
		if json.Unmarshal(raw, &e) == nil && e.Enabled != nil {
			enabled[name] = *e.Enabled
		}
	}
	return NewSwitches(enabled), nil
}

func parseSwitches(path string, text []byte) (switchDocument, error) {
	doc := switchDocument{}
	if err := json.Unmarshal(text, &doc); err != nil {
		return doc, fmt.Errorf("reading %s: %w; mend or delete it", path, err)
	}
	return doc, nil
}

// SetSwitch records a choice. Two instances of zot may do so at once; a file
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
		doc.Project = home.Real(projectDir)
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
