package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// UpdateOptions are the settings of one update.
type UpdateOptions struct {
	Options
	// Force replaces files of the extension that were changed since they were
	// installed; they are kept beside the new ones as NAME.local.
	Force bool
	// Check is asked about the new version before it takes its place, for
	// example whether it starts. Nil passes everything.
	Check func(ctx context.Context, m *manifest.Manifest) error
}

// A ChangedError says that an update would overwrite what somebody changed.
type ChangedError struct {
	Name  string
	Dir   string
	Files []string
}

func (e *ChangedError) Error() string {
	shown := e.Files
	more := ""
	if len(shown) > 8 {
		more = fmt.Sprintf(" and %d more", len(shown)-8)
		shown = shown[:8]
	}
	return fmt.Sprintf("extension %q was changed since it was installed: %s%s in %s; use --force to replace them (they are kept as NAME.local)",
		e.Name, strings.Join(shown, ", "), more, e.Dir)
}

// Update brings an installed extension to what its source holds now. The old
// version stays in its place until the new one has been checked, and then is
// replaced in one step. See the package comment for what is kept.
func Update(ctx context.Context, o UpdateOptions, c *discovery.Candidate) (Result, error) {
	o.Options = o.Options.withDefaults()
	h := home.Home(o.Home)
	if err := Tidy(o.Home); err != nil {
		return Result{}, err
	}
	u := &update{o: o, home: h, c: c}
	if err := u.readOrigin(); err != nil {
		return Result{}, err
	}
	if note, err := u.nothingNew(ctx); err != nil || note != "" {
		return u.unchanged(note), err
	}
	return u.run(ctx)
}

type update struct {
	o     UpdateOptions
	home  home.Home
	c     *discovery.Candidate
	old   Origin
	known *remoteRef // what the server said of the ref
}

func (u *update) unchanged(note string) Result {
	r := Result{Name: u.c.Name, Dir: u.c.Dir, Origin: u.old, Note: note}
	if u.c.Manifest != nil {
		r.Version = u.c.Manifest.Version
	}
	return r
}

func (u *update) readOrigin() error {
	if u.c.Scope != discovery.ScopeGlobal {
		return fmt.Errorf("extension %q in %s belongs to the %s and was not installed by zot; update it there", u.c.Name, u.c.Dir, u.c.Scope)
	}
	if u.c.Link != "" {
		return fmt.Errorf("extension %q is a link to %s; update it there", u.c.Name, u.c.Link)
	}
	old, known, err := OriginOf(u.o.Home, u.c.Folder)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("where extension %q in %s came from is not recorded; remove it and install it again", u.c.Name, u.c.Dir)
	}
	u.old = old
	return nil
}

// nothingNew says why there is nothing to fetch, or "".
func (u *update) nothingNew(ctx context.Context) (string, error) {
	if !u.old.Follows() {
		return fmt.Sprintf("stays at %s %s, as it was installed", u.old.RefKind, u.old.Ref), nil
	}
	if u.old.Kind == FromFolder || u.old.Kind == FromModule {
		if _, err := os.Stat(u.old.Path); err != nil {
			return "", fmt.Errorf("extension %q came from %s, which cannot be read any more: %w", u.c.Name, u.old.Path, err)
		}
		if u.old.Kind == FromModule {
			return "", nil // it is asked in the course of the update
		}
		return "", precheckName(u.c.Name, u.old.Path)
	}
	g, err := newGit(ctx, u.o.Options, u.old.source().Address())
	if err != nil {
		return "", err
	}
	ref, err := g.resolve(ctx, u.old.Ref)
	if err != nil {
		return "", err
	}
	u.known = &ref
	if ref.commit == u.old.Commit && !u.o.Force {
		return "is up to date at " + u.old.ShortCommit(), nil
	}
	return "", nil
}

// precheckName tells faults of a folder with the paths that the user knows.
func precheckName(name, dir string) error {
	m, _, err := manifest.Load(dir)
	if err != nil {
		return err
	}
	return sameName(name, m.Name)
}

func sameName(old, new string) error {
	if manifest.Fold(old) != manifest.Fold(new) {
		return fmt.Errorf("extension %q is called %q in its new version; install that one and remove this", old, new)
	}
	return nil
}

func (u *update) run(ctx context.Context) (Result, error) {
	work, err := stage(u.home)
	if err != nil {
		return Result{}, fmt.Errorf("preparing to update: %w", err)
	}
	defer work.clear()
	got, err := fetch(ctx, u.o.Options, work, u.old.source(), u.known)
	if err != nil {
		return Result{}, err
	}
	if err := got.validate(u.o.Options, work); err != nil {
		return Result{}, err
	}
	if err := sameName(u.c.Name, got.manifest.Name); err != nil {
		return Result{}, err
	}
	got.origin.Installed, got.origin.Updated = u.old.Installed, got.origin.Installed
	changed := changedFiles(u.c.Dir, u.old)
	if got.origin.Tree == u.old.Tree && (len(changed) == 0 || !u.o.Force) {
		return u.unchanged("is up to date"), nil
	}
	if len(changed) > 0 && !u.o.Force {
		return Result{}, &ChangedError{Name: u.c.Name, Dir: u.c.Dir, Files: changed}
	}
	if err := u.prepare(ctx, work, got, changed); err != nil {
		return Result{}, err
	}
	if err := u.commit(work, got); err != nil {
		return Result{}, err
	}
	result := got.result(u.home)
	result.Dir = u.c.Dir
	return result, nil
}

// prepare makes the staged tree what the folder shall be.
func (u *update) prepare(ctx context.Context, work *staging, got *fetched, changed []string) error {
	tree := work.path(treeDir)
	if u.o.Check != nil { // before the state is linked in, which the check must not touch
		if err := u.o.Check(ctx, got.manifest); err != nil {
			return fmt.Errorf("the new version of %q was not taken: %w", u.c.Name, err)
		}
	}
	if err := keepEnabled(u.c, tree); err != nil {
		return err
	}
	if err := u.carry(tree, got); err != nil {
		return err
	}
	return u.keepChanged(tree, got, changed)
}

// keepEnabled gives the new manifest the user's choice.
func keepEnabled(c *discovery.Candidate, tree string) error {
	if c.Manifest == nil {
		return nil
	}
	_, err := setEnabled(filepath.Join(tree, manifest.FileName), c.Manifest.Enabled)
	return err
}

// carry links or copies what the extension has written into its folder.
func (u *update) carry(tree string, got *fetched) error {
	brought := u.old.paths()
	return filepath.WalkDir(u.c.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("keeping what the extension has written: %w", err)
		}
		rel, err := filepath.Rel(u.c.Dir, path)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		if brought[name] {
			return nil
		}
		if err := step("carry " + name); err != nil {
			return err
		}
		if err := u.carryOne(path, filepath.Join(tree, rel), name, entry, got); err != nil {
			return fmt.Errorf("keeping %s: %w", name, err)
		}
		return nil
	})
}

func (u *update) carryOne(from, to, name string, entry fs.DirEntry, got *fetched) error {
	there, err := os.Lstat(to)
	exists := err == nil
	if entry.IsDir() {
		if exists && !there.IsDir() {
			return errors.New("the new version has a file of the name of this folder; move it away first")
		}
		return os.MkdirAll(to, 0o755)
	}
	if exists && there.IsDir() {
		return errors.New("the new version has a folder of the name of this file; move it away first")
	}
	if exists {
		if old, err := os.Stat(from); err == nil && os.SameFile(old, there) {
			return nil // carried before
		}
		got.origin.Files = slices.DeleteFunc(got.origin.Files, func(f File) bool { return f.Path == name })
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return keepFile(from, to, name, entry.Type(), got)
}

// keepFile makes to the same file as from. A link to it keeps what a running
// extension still writes; where links cannot be made it is a copy.
func keepFile(from, to, name string, kind fs.FileMode, got *fetched) error {
	switch {
	case kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
	case kind.IsRegular():
		if err := os.Link(from, to); err != nil {
			if err := copyFile(from, to); err != nil {
				return err
			}
		}
	default:
		got.skipped = append(got.skipped, Skip{name, special(kind)})
		return nil
	}
	if !slices.Contains(got.kept, name) {
		got.kept = append(got.kept, name)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// keepChanged puts changed files beside the new ones.
func (u *update) keepChanged(tree string, got *fetched, changed []string) error {
	for _, name := range changed {
		from := filepath.Join(u.c.Dir, filepath.FromSlash(name))
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, or made something else
		}
		to := filepath.Join(tree, filepath.FromSlash(name)) + ".local"
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := keepFile(from, to, name+".local", 0, got); err != nil {
			return fmt.Errorf("keeping %s: %w", name, err)
		}
	}
	return nil
}

// commit exchanges the old tree and the new one.
func (u *update) commit(work *staging, got *fetched) error {
	unlock, err := u.home.Lock(u.home.ExtensionsDir())
	if err != nil {
		return err
	}
	defer unlock()
	now, known, err := OriginOf(u.o.Home, u.c.Folder)
	if err != nil || !known || !reflect.DeepEqual(now, u.old) {
		return errors.Join(err, fmt.Errorf("extension %q was changed by another zot meanwhile; nothing was done", u.c.Name))
	}
	record := recordPath(u.home, u.c.Folder)
	if err := step("record"); err != nil {
		return err
	}
	if err := writeRecord(record, pending(&u.old, got.origin)); err != nil {
		return err
	}
	if err := work.replace(u.c.Dir, u.c.Folder); err != nil {
		return errors.Join(fmt.Errorf("replacing %s: %w", u.c.Dir, err), writeRecord(record, current(u.old)))
	}
	u.carryLate(work, got)
	got.settle(record)
	return nil
}

// carryLate takes over what a running extension wrote between the carrying and
// the exchange. The old tree is in the staging folder now.
func (u *update) carryLate(work *staging, got *fetched) {
	late := *u
	c := *u.c
	c.Dir, late.c = work.path(oldDir), &c
	if err := late.carry(u.c.Dir, got); err != nil {
		got.warnings = append(got.warnings, err.Error())
	}
}

// setEnabled writes "enabled" into a manifest where it says otherwise, and
// leaves every other byte as it is.
func setEnabled(file string, enabled bool) (changed bool, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	doc, err := document.Parse(file, text)
	if err != nil {
		return false, err
	}
	value := doc.Root.Get("enabled")
	is := value == nil || value.Kind != document.Bool || value.Bool
	if is == enabled {
		return false, nil
	}
	edited, err := doc.Set([]string{"enabled"}, enabled)
	if err != nil {
		return false, fmt.Errorf("editing %s: %w", file, err)
	}
	if err := step("enable"); err != nil {
		return false, err
	}
	return true, home.WriteFile(file, edited, 0o644)
}
