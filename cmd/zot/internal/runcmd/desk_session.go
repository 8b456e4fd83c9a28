package runcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/session"
	"github.com/patriceckhart/zot/tui"
)

// projectID names the user's own folder for the project.
func (a *run) projectID() string { return discovery.ProjectID(a.w.ProjectRoot) }

var errNotKept = errors.New("this conversation is not kept on disk")

// Sessions implements tui.Sessions.
func (d *desk) Sessions(context.Context) ([]tui.SessionRow, error) {
	infos, errs := d.run.store.List(d.run.w.CWD)
	var rows []tui.SessionRow
	for _, i := range infos {
		rows = append(rows, tui.SessionRow{
			Path: i.Path, ID: i.ID, Title: i.Name(), Updated: i.Modified, Messages: i.Messages,
			Current: i.ID == d.run.host.SessionID(),
		})
	}
	if len(rows) == 0 {
		return nil, errors.Join(errs...)
	}
	return rows, nil
}

// Resume implements tui.Sessions.
func (d *desk) Resume(_ context.Context, path string) error {
	if d.run.host.Busy() {
		d.run.host.Cancel()
	}
	c, err := d.run.resume(path)
	if err != nil {
		return err
	}
	defer d.refresh()
	if err := d.run.host.Switch(c); err != nil {
		return err
	}
	// The model is the one that the conversation had; that none can be asked is
	// seen in the status line.
	_ = d.run.host.SetModel("", "")
	return nil
}

// NewSession implements tui.Sessions.
func (d *desk) NewSession(ctx context.Context) error {
	if err := d.run.host.WaitIdle(ctx); err != nil {
		return err
	}
	c, err := d.run.newConversation()
	if err != nil {
		return err
	}
	return d.run.host.Switch(c)
}

// Fork implements tui.Sessions. An id names a file and the place of a message in
// it, as messageID makes it; none is the end of the present conversation.
func (d *desk) Fork(ctx context.Context, id string) error {
	path, ordinal := "", -1
	if id == "" {
		if d.run.kept == nil {
			return errNotKept
		}
		path = d.run.kept.Path()
	} else {
		place, file, ok := strings.Cut(id, " ")
		n, err := strconv.Atoi(place)
		if err != nil || !ok {
			return fmt.Errorf("there is no message %q; /session tree lists them", id)
		}
		path, ordinal = file, n+1
	}
	info, err := d.run.store.Fork(path, ordinal, d.run.w.CWD)
	if err != nil {
		return err
	}
	return d.Resume(ctx, info.Path)
}

func messageID(path string, ordinal int) string { return strconv.Itoa(ordinal) + " " + path }

// Tree implements tui.Sessions: the messages of the conversation and of those
// that it was forked from or that were forked from it, each fork where it left.
func (d *desk) Tree(context.Context) ([]tui.TreeRow, error) {
	if d.run.kept == nil {
		return nil, errNotKept
	}
	t := &sessionTree{store: d.run.store, current: d.run.host.SessionID()}
	infos, _ := d.run.store.List(d.run.w.CWD) // what cannot be read is told by /sessions
	for _, root := range session.Tree(infos) {
		if holds(root, t.current) {
			err := t.add(root, 0)
			return t.rows, err
		}
	}
	// A new conversation is not listed before its first message.
	err := t.add(&session.Node{Info: session.Info{Meta: session.Meta{ID: t.current}, Path: d.run.kept.Path()}}, 0)
	return t.rows, err
}

func holds(n *session.Node, id string) bool {
	return n.ID == id || slices.ContainsFunc(n.Forks, func(f *session.Node) bool { return holds(f, id) })
}

// A sessionTree collects the rows of a tree of conversations.
type sessionTree struct {
	store   *session.Store
	current string
	rows    []tui.TreeRow
}

// add adds the messages that are a session's own, and its forks among them.
func (t *sessionTree) add(n *session.Node, depth int) error {
	entries, err := t.store.History(n.Path)
	if err != nil {
		return err
	}
	forks := slices.Clone(n.Forks)
	slices.SortStableFunc(forks, func(a, b *session.Node) int { return a.ForkPoint - b.ForkPoint })
	last := -1
	for _, e := range entries {
		for len(forks) > 0 && forks[0].ForkPoint <= e.Ordinal {
			if err := t.fork(forks[0], depth+1); err != nil {
				return err
			}
			forks = forks[1:]
		}
		if depth > 0 && e.Ordinal < n.ForkPoint {
			continue // its parent has it
		}
		text := e.Preview
		for _, c := range e.Calls {
			text += " [" + c + "]"
		}
		last = len(t.rows)
		t.rows = append(t.rows, tui.TreeRow{ID: messageID(n.Path, e.Ordinal), Text: text, Role: e.Role, Depth: depth})
	}
	if last >= 0 && n.ID == t.current {
		t.rows[last].Current = true
	}
	for _, f := range forks {
		if err := t.fork(f, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fork adds a fork, headed by a row that opens it.
func (t *sessionTree) fork(n *session.Node, depth int) error {
	t.rows = append(t.rows, tui.TreeRow{Text: n.Name(), Depth: depth, Open: n.Path, Current: n.ID == t.current})
	return t.add(n, depth)
}

// Export implements tui.Sessions.
func (d *desk) Export(_ context.Context, path string) (string, error) {
	if d.run.kept == nil {
		return "", errNotKept
	}
	if path == "" {
		path = d.run.kept.Meta().ID + ".zotsession"
	}
	path = d.run.w.Path(path)
	return path, d.run.store.ExportFile(d.run.kept.Path(), path)
}

// Import implements tui.Sessions.
func (d *desk) Import(ctx context.Context, path string) error {
	info, notices, err := d.run.store.ImportFile(d.run.w.Path(path), d.run.w.CWD)
	if err != nil {
		return err
	}
	for _, n := range notices {
		d.run.say("warn", n)
	}
	return d.Resume(ctx, info.Path)
}
