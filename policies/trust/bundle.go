package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/tree"
)

// A Bundle is all of a project that zot would act on.
type Bundle struct {
	Digest string // "zb1:…" of Files
	Files  []tree.File
	// Extensions and Settings are filled in by whoever knows manifests and
	// settings.
	Extensions map[string]Extension // by name
	// Settings are the project's preferences, each as "name=value".
	Settings []string
	// Policy holds the policy sections of the project's layers, by layer.
	Policy map[string]*document.Node
	// Skipped says what of its texts could not be pinned and is not acted on, one
	// thing each.
	Skipped []string

	digests map[string]string // of Files, by path, in the form that is stored
	looked  []string          // the files and folders that were looked at, whether there or not
}

// Sources are the places besides .zot at which a project has something that zot
// would act on, relative to it and with forward slashes. None needs to be there.
type Sources struct {
	// Folders are named by settings. Links in them cannot be pinned.
	Folders []string
	// Texts are folders that other programs read as well, and Files single
	// files: what in them is no regular file is followed inside the project, or
	// left out.
	Texts, Files []string
}

// An Extension is what a project's extension asks for.
type Extension struct {
	// Dir is its folder, relative to the project, with forward slashes; or the
	// digest of one that only the lock names.
	Dir string `json:"dir"`
	// Start is what would be started, in one form: transport, arguments and
	// variables of the manifest as JSON.
	Start string `json:"start"`
	// Permissions are what it asks for; see policies.AskedFor.
	Permissions *policies.Grant `json:"permissions"`
}

// bundleVersion begins the digest of a bundle.
const bundleVersion = "zb1"

// Scan reads the files of a project that zot would act on: everything below
// .zot, and further places. Of .zot/local only the settings count. Copies in
// .zot/store do not, since nothing there is acted on that has not the digest
// which the lock names. A project
// without any gives an empty bundle. The error is a *tree.Error where the files
// cannot be pinned, for a link for instance.
func Scan(root string, further Sources, cache *tree.Cache) (*Bundle, error) {
	b := &Bundle{Extensions: map[string]Extension{}}
	seen := map[string]bool{}
	folders := append([]string{".zot"}, further.Folders...)
	b.looked = slices.Concat(folders, further.Texts, further.Files)
	for _, dir := range folders {
		dir = path.Clean(dir)
		if !filepath.IsLocal(filepath.FromSlash(dir)) {
			return nil, &tree.Error{Dir: root, Path: dir, Reason: "is outside the project", Remedy: "name a folder inside it"}
		}
		if err := b.add(root, dir, seen, cache); err != nil {
			return nil, err
		}
	}
	if err := b.addTexts(root, further, seen, cache); err != nil {
		return nil, fmt.Errorf("reading the project's files: %w", err)
	}
	sort.Slice(b.Files, func(i, j int) bool { return b.Files[i].Path < b.Files[j].Path })
	b.digests = b.sums()
	b.Digest = (&tree.Tree{Files: b.Files}).DigestAs(bundleVersion)
	return b, nil
}

func (b *Bundle) add(root, dir string, seen map[string]bool, cache *tree.Cache) error {
	full := filepath.Join(root, filepath.FromSlash(dir))
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading the project's files: %w", err)
	case !info.IsDir():
		return &tree.Error{Dir: root, Path: dir, Reason: "is not a folder", Remedy: "put a folder in its place"}
	case !home.Inside(full, root):
		return &tree.Error{Dir: root, Path: dir, Reason: "leads out of the project", Remedy: "put a folder in its place"}
	}
	t, err := tree.Hash(full, tree.Options{Cache: cache, Skip: func(p string) bool { return dir == ".zot" && notActedOn(p) }})
	if err != nil {
		return err
	}
	for _, f := range t.Files {
		f.Path = path.Join(dir, f.Path)
		if !seen[f.Path] {
			seen[f.Path] = true
			b.Files = append(b.Files, f)
		}
	}
	return nil
}

// notActedOn tells which paths below .zot zot never acts on.
func notActedOn(p string) bool {
	if p == "store" || strings.HasPrefix(p, "store/") {
		return true
	}
	rest, local := strings.CutPrefix(p, "local/")
	return local && rest != "config.json" && rest != "config.yaml"
}

// interpreted tells whether a file only says what is asked for, which is
// compared by what it says and not by its bytes.
func interpreted(p string) bool {
	switch path.Base(p) {
	case "config.json", "config.yaml", "extensions.lock.json":
		return path.Dir(p) == ".zot" || path.Dir(p) == ".zot/local"
	}
	return false
}

// sums maps the files to their hashes, in the form that is stored.
func (b *Bundle) sums() map[string]string {
	if b.digests != nil {
		return b.digests
	}
	out := make(map[string]string, len(b.Files))
	for _, f := range b.Files {
		flag := "-"
		if f.Exec {
			flag = "x"
		}
		out[f.Path] = fmt.Sprintf("%s%x", flag, f.Sum)
	}
	return out
}

// Has tells whether a file is of the bundle.
func (b *Bundle) Has(file string) bool {
	_, ok := b.sums()[file]
	return ok
}

// Start puts what a manifest would start into the one form that is compared.
func Start(transport, exec string, args []string, env map[string]string, skills []string) string {
	raw, _ := json.Marshal(struct { // strings cannot fail
		Transport string            `json:"transport,omitempty"`
		Exec      string            `json:"exec,omitempty"`
		Args      []string          `json:"args,omitempty"`
		Env       map[string]string `json:"env,omitempty"`
		Skills    []string          `json:"skills,omitempty"`
	}{transport, exec, args, env, skills})
	return string(raw)
}
