package policycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// lockFlags are the flags of "ext lock".
type lockFlags struct {
	update []string
	check  bool
	user   bool
}

func (c *command) lockCmd() *cobra.Command {
	var f lockFlags
	cmd := &cobra.Command{
		Use:   "lock [NAME...]",
		Short: "Pin extensions to their bytes and rights, and show what changes",
		Long: `Write the lock of this project, .zot/extensions.lock.json, or with --user your own.
Extensions that have no entry get one: those of the project's folder, and those
it recommends with a git source, which are fetched. Of what was fetched a copy
goes to .zot/store, to be committed, so that whoever clones the project need not
fetch it. An entry that is there stays as it is, with status 27 where it does not
fit any more; --update NAME replaces it. With names, or --update alone, the other
extensions are left as they are. Nothing is run.

With --check nothing is fetched or written: status 27 where the lock would
change.`,
		RunE: func(cmd *cobra.Command, names []string) error { return c.lock(cmd.Context(), names, f) },
	}
	cmd.Flags().StringSliceVar(&f.update, "update", nil, "extension whose entry is to be replaced")
	cmd.Flags().BoolVar(&f.check, "check", false, "only tell whether the lock is up to date")
	cmd.Flags().BoolVar(&f.user, "user", false, "the lock of your own extensions")
	return cmd
}

// A locker builds the next state of a lock.
type locker struct {
	*command
	*place
	f     lockFlags
	names []string // empty: all
	scope policies.Scope
	path  string
	old   *lock.File
	isNew bool // there is no lock yet
	next  *lock.File
	lines []string // what changes
	stale []string // entries that do not hold any more and were not to be updated
	left  []string // what would change of those that were not named
	toGet []string // recommended, and not fetched, as nothing is with --check
}

func (c *command) lock(ctx context.Context, names []string, f lockFlags) error {
	p, err := c.open()
	if err != nil {
		return err
	}
	l, err := c.newLocker(p, names, f)
	if err != nil {
		return err
	}
	if err := l.build(ctx); err != nil {
		return err
	}
	for _, line := range l.lines {
		fmt.Fprintln(c.Streams.Out, schemas.Printable(line))
	}
	if len(l.left) > 0 {
		fmt.Fprintln(c.Streams.Err, schemas.Printable("left as they are: "+strings.Join(l.left, ", ")))
	}
	if err := l.finish(); err != nil {
		return err
	}
	return l.reportStale()
}

// reportStale ends the command where entries stayed that do not fit any more.
func (l *locker) reportStale() error {
	if len(l.stale) == 0 {
		return nil
	}
	command := policies.LockCommand(l.scope)
	for _, name := range l.stale {
		command += " --update " + name
	}
	return coded(policies.ExitLockOutOfDate, "no longer what was pinned, and left so: %s; look at what changed, then %s", strings.Join(l.stale, ", "), command)
}

func (c *command) newLocker(p *place, names []string, f lockFlags) (*locker, error) {
	l := &locker{command: c, place: p, f: f, names: append(slices.Clone(names), f.update...), scope: policies.ScopeProject, path: home.ProjectLockFile(p.ProjectRoot)}
	if f.user {
		l.scope, l.path = policies.ScopeUser, p.Home.LockFile()
	}
	old, err := lock.Load(l.path)
	switch {
	case errors.Is(err, lock.ErrNone):
		l.isNew = true
	case err != nil:
		return nil, err
	}
	l.old, l.next = old, &lock.File{Extensions: maps.Clone(old.Extensions)}
	if l.next.Extensions == nil {
		l.next.Extensions = map[string]lock.Entry{}
	}
	return l, nil
}

func (l *locker) build(ctx context.Context) error {
	known := map[string]bool{}
	for _, ext := range l.candidates() {
		known[ext.Name] = true
		if err := l.vendored(ext); err != nil {
			return err
		}
	}
	if l.scope == policies.ScopeProject {
		for _, r := range l.gate.Set.Recommendations() {
			if known[r.Name] || r.Source == "" {
				continue
			}
			known[r.Name] = true
			if err := l.recommended(ctx, r); err != nil {
				return err
			}
		}
	}
	for _, name := range l.names {
		if !known[name] {
			return fmt.Errorf("no extension is called %q here; see zot ext list", name)
		}
	}
	l.dropGone(known)
	return nil
}

// candidates are the extensions that the lock is about, the first of each name.
func (l *locker) candidates() []*discovery.Candidate {
	var out []*discovery.Candidate
	seen := map[string]bool{}
	for _, ext := range l.plan.Candidates {
		b := l.gate.Bound(ext)
		if b == nil || ext.Pin != "" || b.Subject().Scope != l.scope || seen[manifest.Fold(ext.Name)] {
			continue
		}
		seen[manifest.Fold(ext.Name)] = true
		out = append(out, ext)
	}
	return out
}

func (l *locker) wanted(name string) bool { return len(l.names) == 0 || slices.Contains(l.names, name) }

func (l *locker) vendored(ext *discovery.Candidate) error {
	entry, err := l.entryOf(ext.Manifest, ext.Dir, l.gate.Claimed(ext), gate.Descriptors(ext))
	if err != nil {
		if !l.wanted(ext.Name) {
			return nil // it is told of where it is asked for
		}
		return err
	}
	if native(ext.Dir, ext.Manifest) {
		entry.Digest, entry.Platforms = "", map[string]string{gate.Platform: entry.Digest}
	}
	if old, had := l.old.Lookup(ext.Name); had {
		l.keepOf(&entry, old, ext.Name)
	}
	l.put(ext.Name, entry)
	return nil
}

// keepOf takes over of an entry that is there what cannot be seen here: what was
// asked for when it was fetched, and its digests on other platforms.
func (l *locker) keepOf(entry *lock.Entry, old lock.Entry, name string) {
	entry.Ref, entry.Commit = old.Ref, old.Commit
	if policies.SameSource(entry.Source, old.Source) {
		entry.Source = old.Source
	}
	switch here := entry.DigestFor(gate.Platform); {
	case old.DigestFor(gate.Platform) == here:
		entry.Digest, entry.Platforms = old.Digest, old.Platforms
	case slices.Contains(l.f.update, name): // others are of what was before
	case len(entry.Platforms) > 0:
		entry.Platforms = maps.Clone(old.Platforms)
		if entry.Platforms == nil {
			entry.Platforms = map[string]string{}
		}
		entry.Platforms[gate.Platform] = here
	}
}

// entryOf pins a folder.
func (l *locker) entryOf(m *manifest.Manifest, dir, source, descriptors string) (lock.Entry, error) {
	t, err := tree.Hash(dir, tree.Options{})
	if err != nil {
		return lock.Entry{}, err
	}
	permissions, err := policies.ParsePermissions(m.Permissions)
	if err != nil {
		return lock.Entry{}, fmt.Errorf("%s: %w", m.File, err)
	}
	return lock.Entry{
		Version: m.Version, Source: source, Transport: string(m.Transport), Digest: t.Digest(), Descriptors: descriptors,
		Permissions: policies.AskedFor(permissions, string(m.Transport)),
	}, nil
}

// put takes an entry in, and notes what it changes. An entry that is there is
// replaced only where that was asked for, or where it had nothing for this
// platform and says the same otherwise.
func (l *locker) put(name string, entry lock.Entry) {
	old, had := l.old.Lookup(name)
	diff := difference(name, old, entry, had)
	switch {
	case len(diff) == 0:
		return
	case !l.wanted(name) && had:
		l.left = append(l.left, name+" (changed)")
		return
	case !l.wanted(name):
		l.left = append(l.left, name+" (new)")
		return
	}
	l.lines = append(l.lines, diff...)
	adds := old.DigestFor(gate.Platform) == "" && len(difference(name, old, withDigests(entry, old), true)) == 0
	if had && !adds && !slices.Contains(l.f.update, name) {
		l.stale = append(l.stale, name)
		return
	}
	l.next.Extensions[name] = entry
}

func withDigests(entry, of lock.Entry) lock.Entry {
	entry.Digest, entry.Platforms = of.Digest, of.Platforms
	return entry
}

// dropGone takes out entries of extensions that are not there any more.
func (l *locker) dropGone(known map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(l.next.Extensions)) {
		if known[name] {
			continue
		}
		if len(l.names) > 0 {
			l.left = append(l.left, name+" (gone)")
		} else {
			delete(l.next.Extensions, name)
			l.lines = append(l.lines, "- "+name)
		}
	}
}

func (l *locker) finish() error {
	if l.isNew && len(l.next.Extensions) == 0 && len(l.toGet) == 0 {
		fmt.Fprintf(l.Streams.Err, "there is no extension to pin here, and no lock is needed\n")
		return nil
	}
	if l.f.check {
		return l.check()
	}
	if err := l.copyPinned(); err != nil {
		return err
	}
	changed, err := l.next.Save(l.Home, l.path)
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(l.Streams.Err, "wrote %s with %s\n", l.path, iostreams.Count(len(l.next.Extensions), "extension"))
	} else if len(l.stale) == 0 && len(l.left) == 0 {
		fmt.Fprintf(l.Streams.Err, "%s is up to date\n", l.path)
	}
	return nil
}

// check tells whether the file is what would be written.
func (l *locker) check() error {
	text, err := l.next.Bytes()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(l.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !bytes.Equal(old, text), len(l.toGet) > 0:
		return coded(policies.ExitLockOutOfDate, "%s is not up to date; run %s", l.path, policies.LockCommand(l.scope))
	case len(l.stale) == 0 && len(l.left) == 0:
		fmt.Fprintf(l.Streams.Err, "%s is up to date\n", l.path)
	}
	return nil
}
