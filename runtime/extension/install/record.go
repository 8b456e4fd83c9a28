package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// RefKind says what a source's ref turned out to be.
type RefKind string

const (
	RefDefault RefKind = "default" // none was given: the default branch
	RefBranch  RefKind = "branch"
	RefTag     RefKind = "tag"
	RefCommit  RefKind = "commit"
)

// An Origin is where an installed extension came from.
type Origin struct {
	Source  string     `json:"source"` // as install takes it
	Kind    SourceKind `json:"kind"`
	Path    string     `json:"path,omitempty"`
	URL     string     `json:"url,omitempty"`
	Subdir  string     `json:"subdir,omitempty"`
	Ref     string     `json:"ref,omitempty"`
	RefKind RefKind    `json:"refKind,omitempty"`
	Commit  string     `json:"commit,omitempty"`
	// Installed is when it came first, Updated when it was last replaced.
	Installed time.Time `json:"installed"`
	Updated   time.Time `json:"updated,omitzero"`

	// Files are what it brought; everything else in its folder is its state.
	Files []File `json:"files"`
	// Tree is the digest of all that the source held, also where a file of the
	// same name was the extension's state and stayed.
	Tree string `json:"tree"`
	// Manifest is the digest of the manifest apart from "enabled".
	Manifest string `json:"manifest"`
}

// Follows reports whether an update may bring something new: a folder, a module
// or a branch moves, a tag or a commit does not.
func (o Origin) Follows() bool {
	return o.Kind == FromFolder || o.Kind == FromModule || o.RefKind == RefDefault || o.RefKind == RefBranch
}

func (o Origin) source() Source {
	return Source{Kind: o.Kind, Path: o.Path, URL: o.URL, Subdir: o.Subdir, Ref: o.Ref}
}

// paths holds the files of an origin and the folders that they are in.
func (o Origin) paths() map[string]bool {
	paths := map[string]bool{}
	for _, f := range o.Files {
		for p := f.Path; p != "." && !paths[p]; p = path.Dir(p) {
			paths[p] = true
		}
	}
	return paths
}

// ShortCommit is the commit as people write it, or empty.
func (o Origin) ShortCommit() string { return o.Commit[:min(len(o.Commit), 12)] }

// A record is the file that holds an origin. Pending is written before a tree
// takes its place and becomes current afterwards; after an interruption the
// files in the folder tell which of the two is true.
type record struct {
	Current *Origin `json:"current,omitempty"`
	Pending *Origin `json:"pending,omitempty"`
}

func recordPath(h home.Home, folderName string) string {
	return filepath.Join(h.ExtensionsDir(), ".origins", manifest.Fold(folderName)+".json")
}

func readRecord(path string) (record, error) {
	var r record
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w; delete it, or install the extension again", path, err)
	}
	return r, nil
}

func writeRecord(path string, r record) error {
	if r.Current == nil && r.Pending == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return home.WriteFile(path, append(text, '\n'), home.FileMode)
}

// OriginOf returns where the extension in a folder of zot's home came from, and
// whether that is known.
func OriginOf(zotHome, folderName string) (Origin, bool, error) {
	h := home.Home(zotHome)
	r, err := readRecord(recordPath(h, folderName))
	if err != nil {
		return Origin{}, false, err
	}
	if o := r.truth(filepath.Join(h.ExtensionsDir(), folderName)); o != nil {
		return *o, true, nil
	}
	return Origin{}, false, nil
}

// truth picks the origin that the files in dir agree with.
func (r record) truth(dir string) *Origin {
	if _, err := os.Lstat(dir); err != nil {
		return nil
	}
	if r.Pending == nil || r.Current == nil {
		if r.Current != nil {
			return r.Current
		}
		return r.Pending
	}
	if len(changedFiles(dir, *r.Pending)) <= len(changedFiles(dir, *r.Current)) {
		return r.Pending
	}
	return r.Current
}

// changedFiles lists the files of an origin that are not in dir as they came.
func changedFiles(dir string, o Origin) []string {
	var changed []string
	for _, f := range o.Files {
		if !unchanged(dir, f, o.Manifest) {
			changed = append(changed, f.Path)
		}
	}
	return changed
}

func unchanged(dir string, f File, manifestDigest string) bool {
	full := filepath.Join(dir, filepath.FromSlash(f.Path))
	info, err := os.Lstat(full)
	switch {
	case err != nil:
		return false
	case f.Link != "":
		target, err := os.Readlink(full)
		return err == nil && target == f.Link
	case !info.Mode().IsRegular():
		return false
	case f.Path == manifest.FileName:
		text, err := os.ReadFile(full)
		return err == nil && digestManifest(text) == manifestDigest
	case info.Size() != f.Size:
		return false
	}
	sum, err := hashFile(full)
	return err == nil && sum == f.SHA256
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// digestManifest is the same for two manifests that differ only in "enabled",
// comments and spacing.
func digestManifest(text []byte) string {
	doc, _ := schemas.Parse(text)
	if doc == nil {
		return ""
	}
	fields := map[string]any{}
	if object, ok := doc.Value().(map[string]any); ok {
		for key, value := range object {
			if key != "enabled" {
				fields[key] = value
			}
		}
	}
	canonical, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

func digestFiles(files []File) string {
	text, err := json.Marshal(files)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// recordNames lists the folders, folded, for which there is a record.
func recordNames(h home.Home) []string {
	entries, _ := os.ReadDir(filepath.Join(h.ExtensionsDir(), ".origins"))
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			names = append(names, name)
		}
	}
	return names
}
