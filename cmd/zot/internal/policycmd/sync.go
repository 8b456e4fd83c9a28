package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// fetched is an extension that was brought from its source.
type fetched struct {
	dir      string
	origin   install.Origin
	manifest *manifest.Manifest
}

// fetch brings an extension into a folder that the returned function removes. The
// source is written as policies write it, or as "ext install" takes it.
func (c *command) fetch(ctx context.Context, p *place, source string) (f fetched, clean func(), err error) {
	tmp, err := os.MkdirTemp("", "zot-fetch-")
	if err != nil {
		return f, nil, err
	}
	clean = func() { _ = os.RemoveAll(tmp) }
	bring := c.Fetch
	if bring == nil {
		bring = c.installInto
	}
	ctx, cancel := p.FetchTime(ctx)
	defer cancel()
	f.dir, f.origin, err = bring(ctx, strings.TrimPrefix(strings.TrimPrefix(source, "git+"), "path:"), tmp)
	if late := context.Cause(ctx); err != nil && late != nil {
		err = late
	}
	if err == nil {
		f.manifest, _, err = manifest.Load(f.dir)
	}
	if err != nil {
		clean()
		return f, nil, fmt.Errorf("fetching %s: %w", source, err)
	}
	return f, clean, nil
}

// installInto uses a state folder of its own to fetch into.
func (c *command) installInto(ctx context.Context, source, into string) (string, install.Origin, error) {
	_, err := install.Install(ctx, install.Options{Home: into, CWD: into, ZotVersion: c.Version}, source)
	if err != nil {
		return "", install.Origin{}, err
	}
	found := discovery.Find(discovery.Options{Home: into, CWD: into})
	if len(found.Candidates) != 1 {
		return "", install.Origin{}, fmt.Errorf("%s came where one was expected", iostreams.Count(len(found.Candidates), "extension"))
	}
	ext := found.Candidates[0]
	origin, _, err := install.OriginOf(into, ext.Folder)
	return ext.Dir, origin, err
}

// recommended pins an extension that the project only names.
func (l *locker) recommended(ctx context.Context, r policies.Recommendation) error {
	_, had := l.old.Lookup(r.Name)
	switch {
	case had && !slices.Contains(l.f.update, r.Name):
		return nil // pinned already; what is there counts
	case !l.wanted(r.Name):
		l.left = append(l.left, r.Name+" (new)")
		return nil
	}
	if l.f.check {
		l.lines = append(l.lines, "+ "+r.Name+" from "+r.Source)
		l.toGet = append(l.toGet, r.Name)
		return nil
	}
	f, clean, err := l.fetch(ctx, l.place, r.Source)
	if err != nil {
		return err
	}
	defer clean()
	if !strings.EqualFold(f.manifest.Name, r.Name) {
		return fmt.Errorf("%s is recommended as %q, and its manifest says %q", r.Source, r.Name, f.manifest.Name)
	}
	source, err := policies.SourceAddress(gate.OriginSource(f.origin))
	if err != nil {
		return err
	}
	entry, err := l.entryOf(f.manifest, f.dir, source, gate.Descriptors(&discovery.Candidate{Manifest: f.manifest}))
	if err != nil {
		return err
	}
	entry.Ref, entry.Commit = f.origin.Ref, f.origin.Commit
	if err := storeAs(l.place, f.dir, entry.Digest, source); err != nil {
		return err
	}
	l.put(r.Name, entry)
	return nil
}

func (c *command) syncCmd() *cobra.Command {
	var frozen bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Fill the store with what the lock pins",
		Long: `Bring every extension that the project's lock pins into the store, from the
project's folder or from its source, and check its digest. With --frozen nothing
is fetched. Status 22 where something is not what was pinned.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.sync(cmd.Context(), frozen) },
	}
	cmd.Flags().BoolVar(&frozen, "frozen", false, "fetch nothing; what is missing is an error")
	return cmd
}

func (c *command) sync(ctx context.Context, frozen bool) error {
	p, err := c.open()
	if err != nil {
		return err
	}
	for _, err := range p.gate.LockErrs {
		return err
	}
	if p.gate.ProjectLock == nil {
		return fmt.Errorf("this project has no lock; run zot ext lock")
	}
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(p.gate.ProjectLock.Extensions)) {
		state, err := c.syncOne(ctx, p, name, p.gate.ProjectLock.Extensions[name], frozen)
		if err != nil {
			bad = append(bad, name)
			state = err.Error()
		}
		fmt.Fprintf(c.Streams.Out, "%s: %s\n", name, state)
	}
	if len(bad) > 0 {
		return coded(policies.ExitDigestMismatch, "not stored as the lock has it: %s", strings.Join(bad, ", "))
	}
	return nil
}

func storeOf(p *place) lock.Store { return lock.Store{Dir: p.Home.StoreDir()} }

// syncOne brings one extension into the store. What is there already is fetched
// all the same, unless frozen, where nothing proves yet that it comes from the
// source that the lock names.
func (c *command) syncOne(ctx context.Context, p *place, name string, entry lock.Entry, frozen bool) (string, error) {
	want := entry.DigestFor(gate.Platform)
	if want == "" {
		return "", fmt.Errorf("%s: the lock has no digest for %s; run zot ext lock here", policies.CodePlatformMissing, gate.Platform)
	}
	store := storeOf(p)
	_, err := store.Open(want)
	here := err == nil
	if rel, vendored := strings.CutPrefix(entry.Source, "vendored:"); vendored {
		return syncVendored(p, name, rel, want, here)
	}
	if here && (frozen || store.CameFrom(want, entry.Source)) {
		return "in the store", nil
	}
	if frozen {
		return c.fromCopy(p, want)
	}
	f, clean, err := c.fetch(ctx, p, addressOf(entry))
	if err != nil {
		return "", err
	}
	defer clean()
	return "fetched from " + entry.Source, storeAs(p, f.dir, want, entry.Source)
}

// syncVendored stores a folder of the project. That the store has what was
// pinned is not enough: where the folder is something else now, it does not load.
func syncVendored(p *place, name, rel, want string, here bool) (string, error) {
	dir := filepath.Join(p.ProjectRoot, filepath.FromSlash(rel))
	t, err := tree.Hash(dir, tree.Options{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: %s", policies.CodeContentDrift, goneWords(rel))
	case err != nil:
		return "", err
	case t.Digest() != want:
		return "", fmt.Errorf("%s: its files in %s are not those that were locked; %s",
			policies.CodeContentDrift, rel, policies.Relock(policies.ScopeProject, "vendored:"+rel, name))
	case here:
		return "in the store", nil
	}
	return "stored from " + rel, storeAs(p, dir, want, "")
}

// goneWords say what helps where the folder of a locked extension is no more.
func goneWords(rel string) string {
	return rel + " is gone; bring it back with git checkout " + rel + ", or run zot ext lock, which takes it out"
}

// addressOf is what the entry's source is fetched by.
func addressOf(entry lock.Entry) string {
	if entry.Commit == "" {
		return entry.Source
	}
	return entry.Source + "#" + entry.Commit
}

// fromCopy stores the copy that the project carries.
func (c *command) fromCopy(p *place, want string) (string, error) {
	dir, err := gate.Copies(p.ProjectRoot).Open(want)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("not in the store, and nothing is fetched with --frozen; run zot ext sync without it")
	}
	if err != nil {
		return "", err
	}
	return "stored from the project's copy", storeAs(p, dir, want, "")
}

// storeAs stores a folder that must have the digest; another one is taken out
// again. source is where it was just fetched from, or empty.
func storeAs(p *place, dir, want, source string) error {
	store := storeOf(p)
	got, _, err := store.Put(dir)
	if err != nil {
		return err
	}
	if got != want {
		_ = store.Remove(got)
		return fmt.Errorf("%s: has digest %s, and the lock pins %s", policies.CodeContentDrift, got, want)
	}
	if source == "" {
		return nil
	}
	return store.Note(p.Home, want, source)
}

// copyPinned puts a copy of each extension that only the lock names into the
// project, as far as this machine has it, and takes out those that it does not
// name any more.
func (l *locker) copyPinned() error {
	if l.scope != policies.ScopeProject {
		return nil
	}
	copies, wanted := gate.Copies(l.ProjectRoot), map[string]bool{}
	for _, entry := range l.next.Extensions {
		digest := entry.DigestFor(gate.Platform)
		if !gate.FromElsewhere(entry) || digest == "" {
			continue
		}
		wanted[digest] = true
		if dir, err := storeOf(l.place).Open(digest); err == nil {
			if _, _, err := copies.Put(dir); err != nil {
				return err
			}
		}
	}
	present, err := copies.Digests()
	for _, digest := range present {
		if !wanted[digest] {
			err = errors.Join(err, copies.Remove(digest))
		}
	}
	return err
}
