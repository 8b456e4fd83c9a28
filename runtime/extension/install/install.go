package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// ErrExists is wrapped by the error for a name that is taken.
var ErrExists = errors.New("already installed")

// Install copies an extension from source, as [ParseSource] reads it, into
// zot's home. The folder there is called as the manifest says. Nothing that is
// installed is ever replaced, and on an error or an interruption nothing is
// left behind.
func Install(ctx context.Context, o Options, source string) (Result, error) {
	o = o.withDefaults()
	s, err := ParseSource(source, o.CWD)
	if err != nil {
		return Result{}, err
	}
	h := home.Home(o.Home)
	if err := precheck(h, s); err != nil {
		return Result{}, err
	}
	work, err := stage(h)
	if err != nil {
		return Result{}, fmt.Errorf("preparing to install: %w", err)
	}
	defer work.clear()
	got, err := fetch(ctx, o, work, s, nil)
	if err != nil {
		return Result{}, err
	}
	if err := got.validate(o, work); err != nil {
		return Result{}, err
	}
	if err := got.commitNew(work); err != nil {
		return Result{}, err
	}
	return got.result(h), nil
}

// precheck looks at a folder before it is copied: its faults are then told with
// the paths that the user knows, and sooner.
func precheck(h home.Home, s Source) error {
	if s.Kind != FromFolder {
		return nil
	}
	if home.Inside(h.ExtensionsDir(), s.Path) {
		return &SourceError{Source: s.Path, Reason: "holds the folder into which extensions are installed", Remedy: "name the extension's own folder"}
	}
	m, _, err := manifest.Load(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w%s", err, elsewhere(s.Path, s))
	}
	if err != nil {
		return err
	}
	return notTaken(h, m.Name)
}

// A fetched is a tree in a staging folder, and what is known of it.
type fetched struct {
	source   Source
	origin   Origin
	manifest *manifest.Manifest
	skipped  []Skip
	kept     []string
	warnings []string
}

// fetch brings the source into the tree folder of a staging folder. known is
// what the server said of the ref, or nil.
func fetch(ctx context.Context, o Options, work *staging, s Source, known *remoteRef) (*fetched, error) {
	now := o.Now().UTC().Truncate(1e9)
	f := &fetched{source: s, origin: Origin{Source: s.String(), Kind: s.Kind, Path: s.Path, URL: s.URL, Subdir: s.Subdir, Ref: s.Ref, Installed: now}}
	from := s.Path
	if s.Kind == FromModule {
		var err error
		if from, err = wrap(ctx, o, work, s.Path); err != nil {
			return nil, err
		}
	}
	if s.Kind == FromGit {
		clone, err := f.clone(ctx, o, work, known)
		if err != nil {
			return nil, err
		}
		if from, err = inClone(clone, s); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(work.path(treeDir), 0o755); err != nil {
		return nil, err
	}
	c, err := copyTree(ctx, from, work.path(treeDir))
	if err != nil {
		return nil, fmt.Errorf("copying from %s: %w", s, err)
	}
	if s.Kind == FromGit && s.Subdir == "" {
		c.skipped = withoutRootGit(c.skipped) // always there and of no interest
	}
	f.origin.Files, f.skipped = c.files, c.skipped
	f.origin.Tree = digestFiles(c.files)
	return f, nil
}

func withoutRootGit(skipped []Skip) []Skip {
	var rest []Skip
	for _, s := range skipped {
		if s.Path != ".git" {
			rest = append(rest, s)
		}
	}
	return rest
}

func (f *fetched) clone(ctx context.Context, o Options, work *staging, known *remoteRef) (string, error) {
	g, err := newGit(ctx, o, f.source.Address())
	if err != nil {
		return "", err
	}
	if known == nil {
		ref, err := g.resolve(ctx, f.source.Ref)
		if err != nil {
			return "", err
		}
		known = &ref
	}
	if err := step("clone"); err != nil {
		return "", err
	}
	commit, err := g.fetch(ctx, *known, work.path(cloneDir))
	if err != nil {
		return "", err
	}
	f.origin.RefKind, f.origin.Commit = known.kind, commit
	return work.path(cloneDir), nil
}

// inClone finds the selected folder. It must be a folder of the repository and
// not a link out of it.
func inClone(clone string, s Source) (string, error) {
	dir := filepath.Join(clone, filepath.FromSlash(s.Subdir))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: the repository has no folder %q%s", s, s.Subdir, elsewhere(clone, s))
	}
	if real := home.Real(dir); !home.Inside(real, home.Real(clone)) {
		return "", fmt.Errorf("%s: the folder %q is a link out of the repository", s, s.Subdir)
	}
	return dir, nil
}

// elsewhere names folders below root that do hold a manifest.
func elsewhere(root string, s Source) string {
	var found []string
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil || strings.Count(rel, string(filepath.Separator)) > 3 || len(found) == 5:
			return fs.SkipDir
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.Name() == manifest.FileName && rel != manifest.FileName:
			found = append(found, filepath.ToSlash(filepath.Dir(rel)))
		}
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	hint := "; there is one in " + strings.Join(found, ", ")
	if s.Kind == FromGit {
		s.Subdir = found[0]
		hint += fmt.Sprintf(" (choose it with %q)", s.String())
	}
	return hint
}

// validate reads the manifest of the staged tree and looks at its program.
func (f *fetched) validate(o Options, work *staging) error {
	tree := work.path(treeDir)
	shown := f.source.Path
	if f.source.Kind == FromGit {
		shown = f.source.String()
	}
	m, warnings, err := manifest.Load(tree)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no extension: there is no %s in it%s", shown, manifest.FileName, elsewhere(work.path(cloneDir), f.source))
	}
	if err != nil {
		return relocate(err, tree, shown)
	}
	f.manifest = m
	f.origin.Manifest = digestManifest(m.Text)
	if err := m.CheckZot(o.ZotVersion); err != nil {
		return err
	}
	for _, w := range warnings {
		f.warnings = append(f.warnings, manifest.FileName+":"+w.String())
	}
	return f.checkExec(tree, shown)
}

func (f *fetched) checkExec(tree, shown string) error {
	_, err := f.manifest.ExecPath()
	var fault *manifest.ExecError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &fault):
		return err
	}
	fault.Path = strings.Replace(fault.Path, tree, strings.TrimSuffix(shown, "/"), 1)
	fault.Remedy = strings.ReplaceAll(fault.Remedy, tree, shown)
	if fault.Machine {
		f.warnings = append(f.warnings, fault.Error())
		return nil
	}
	for _, s := range f.skipped {
		if strings.TrimPrefix(filepath.ToSlash(filepath.Clean(f.manifest.Exec)), "./") == s.Path {
			fault.Cause, fault.Remedy = "was not copied: it is "+s.Reason, "put the program itself into the folder"
		}
	}
	return fault
}

// relocate names the source in an error about the staged copy.
func relocate(err error, from, to string) error {
	var file *schemas.FileError
	if errors.As(err, &file) {
		moved := *file
		moved.File = strings.Replace(file.File, from, to, 1)
		return &moved
	}
	return errors.New(strings.ReplaceAll(err.Error(), from, to))
}

// notTaken refuses a name that an installed extension or its folder has, in any
// case.
func notTaken(h home.Home, name string) error {
	if found := installed(h).Lookup(name); len(found) > 0 {
		c := found[0]
		what := fmt.Sprintf("extension %q is %%w in %s", c.Name, c.Dir)
		if c.Name != name {
			what = fmt.Sprintf("%q cannot be installed: %q is %%w in %s", name, c.Name, c.Dir)
		}
		return fmt.Errorf(what+"; bring it up to date with \"zot ext update %s\" or remove it first", ErrExists, c.Name)
	}
	if entries, err := os.ReadDir(h.ExtensionsDir()); err == nil {
		for _, e := range entries {
			if manifest.Fold(e.Name()) == manifest.Fold(name) {
				return fmt.Errorf("extension %q cannot be installed: %s is in the way, which is %w by other means; move it away first",
					name, filepath.Join(h.ExtensionsDir(), e.Name()), ErrExists)
			}
		}
	}
	return nil
}

// installed lists what is in zot's home.
func installed(h home.Home) discovery.Plan { return discovery.Find(discovery.Options{Home: h.Dir()}) }

// commitNew puts the staged tree where nothing was.
func (f *fetched) commitNew(work *staging) error {
	h := work.home
	unlock, err := h.Lock(h.ExtensionsDir())
	if err != nil {
		return err
	}
	defer unlock()
	if err := notTaken(h, f.manifest.Name); err != nil {
		return err
	}
	record := recordPath(h, f.manifest.Name)
	target := filepath.Join(h.ExtensionsDir(), f.manifest.Name)
	if err := step("record"); err != nil {
		return err
	}
	if err := writeRecord(record, pending(nil, f.origin)); err != nil {
		return err
	}
	if err := step("rename"); err != nil {
		_ = os.Remove(record)
		return err
	}
	if err := os.Rename(work.path(treeDir), target); err != nil {
		_ = os.Remove(record)
		return fmt.Errorf("installing %s: %w", f.manifest.Name, err)
	}
	f.settle(record)
	return nil
}

// settle makes the pending origin the current one. The extension is in its
// place by now, so an error here is only told: the next operation settles it.
func (f *fetched) settle(record string) {
	err := step("settle")
	if err == nil {
		err = writeRecord(record, current(f.origin))
	}
	if err != nil {
		f.warnings = append(f.warnings, "the record of the installation is not complete yet: "+err.Error())
	}
}

func pending(old *Origin, o Origin) record { return record{Current: old, Pending: &o} }

func current(o Origin) record { return record{Current: &o} }

func (f *fetched) result(h home.Home) Result {
	return Result{Name: f.manifest.Name, Version: f.manifest.Version, Dir: filepath.Join(h.ExtensionsDir(), f.manifest.Name),
		Origin: f.origin, Changed: true, Skipped: f.skipped, Kept: f.kept, Warnings: f.warnings}
}
