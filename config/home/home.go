// Package home says where zot's folders are and writes the files in them.
//
// [Resolve] finds the state folder, which the documentation calls $ZOT_HOME.
// A [Home] names what is inside it. [WriteFile] replaces a file in one step,
// and [Home.Update] does so under a lock, so that two instances of zot that
// save at the same time both keep what they saved.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DirMode and FileMode are the permissions of what zot creates: its state is
// the user's own business.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// A Home is the path of the state folder: absolute and clean.
type Home string

// Dir is the folder itself.
func (h Home) Dir() string { return string(h) }

// Path joins elements onto the folder.
func (h Home) Path(elem ...string) string {
	return filepath.Join(append([]string{string(h)}, elem...)...)
}

// ConfigFile is the user's settings where there is no config.yaml.
func (h Home) ConfigFile() string { return h.Path("config.json") }

// AuthFile holds credentials.
func (h Home) AuthFile() string { return h.Path("auth.json") }

// ModelsFile holds the user's additions to the list of models.
func (h Home) ModelsFile() string { return h.Path("models.json") }

// TrustFile holds what the user has approved.
func (h Home) TrustFile() string { return h.Path("trust.json") }

// LockFile pins the user's own extensions.
func (h Home) LockFile() string { return h.Path("extensions.lock.json") }

// ExtensionsDir holds the installed extensions, one folder each.
func (h Home) ExtensionsDir() string { return h.Path("extensions") }

// SkillsDir holds the user's skills.
func (h Home) SkillsDir() string { return h.Path("skills") }

// ThemesDir holds the user's themes.
func (h Home) ThemesDir() string { return h.Path("themes") }

// LogsDir holds logs: of extensions, of policy decisions, of zot.
func (h Home) LogsDir() string { return h.Path("logs") }

// ExtensionLog is the file that the standard error of the named extension goes
// to. The name must have been checked: it becomes part of a path.
func (h Home) ExtensionLog(name string) string { return h.Path("logs", "ext-"+name+".log") }

// AuditFile is the log of policy decisions.
func (h Home) AuditFile() string { return h.Path("logs", "audit.jsonl") }

// SessionsDir holds the conversations.
func (h Home) SessionsDir() string { return h.Path("sessions") }

// StoreDir holds extension folders by the digest of their content.
func (h Home) StoreDir() string { return h.Path("store") }

// DataDir holds what pinned extensions keep, one folder each. The name must
// have been checked.
func (h Home) DataDir(name string) string { return h.Path("data", name) }

// CacheDir holds what can be made again at any time.
func (h Home) CacheDir() string { return h.Path("cache") }

// ModuleCache holds what WebAssembly modules were compiled to.
func (h Home) ModuleCache() string { return h.Path("cache", "wasm") }

// ProjectDir holds the user's own settings for one project. The id must be a
// single path element.
func (h Home) ProjectDir(id string) string { return h.Path("projects", id) }

// SystemPromptFile replaces the built-in identity where it exists.
func (h Home) SystemPromptFile() string { return h.Path("SYSTEM.md") }

// ContextFile is the user's own AGENTS.md.
func (h Home) ContextFile() string { return h.Path("AGENTS.md") }

// Ensure creates the folder and those of its parents that are missing, all
// open to the user alone. Those that exist are left as they are.
func (h Home) Ensure() error { return EnsureDir(string(h)) }

// EnsureDir creates dir and its missing parents for the user alone.
func EnsureDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("creating folder %q: not an absolute path", dir)
	}
	err := os.MkdirAll(dir, DirMode)
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return fmt.Errorf("creating folder %q: %w", dir, pathErr.Err)
	}
	return err
}
