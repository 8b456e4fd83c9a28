package runcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
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

// Fork implements tui.Sessions. An id is the place of a message in the file.
func (d *desk) Fork(ctx context.Context, id string) error {
	if d.run.kept == nil {
		return errNotKept
	}
	ordinal := -1
	if id != "" {
		n, err := strconv.Atoi(id)
		if err != nil {
			return fmt.Errorf("there is no message %q", id)
		}
		ordinal = n + 1
	}
	info, err := d.run.store.Fork(d.run.kept.Path(), ordinal, d.run.w.CWD)
	if err != nil {
		return err
	}
	return d.Resume(ctx, info.Path)
}

// Tree implements tui.Sessions.
func (d *desk) Tree(context.Context) ([]tui.TreeRow, error) {
	if d.run.kept == nil {
		return nil, errNotKept
	}
	entries, err := d.run.store.History(d.run.kept.Path())
	if err != nil {
		return nil, err
	}
	var rows []tui.TreeRow
	for _, e := range entries {
		text := e.Preview
		for _, c := range e.Calls {
			text += " [" + c + "]"
		}
		rows = append(rows, tui.TreeRow{ID: strconv.Itoa(e.Ordinal), Text: text, Role: e.Role})
	}
	return rows, nil
}

// Export implements tui.Sessions.
func (d *desk) Export(_ context.Context, path string) (string, error) {
	if d.run.kept == nil {
		return "", errNotKept
	}
	if path == "" {
		path = d.run.kept.Meta().ID + ".zotsession"
	}
	path = home.Expand(path, d.run.w.UserHome)
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.run.w.CWD, path)
	}
	return path, d.run.store.ExportFile(d.run.kept.Path(), path)
}

// Import implements tui.Sessions.
func (d *desk) Import(ctx context.Context, path string) error {
	path = home.Expand(path, d.run.w.UserHome)
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.run.w.CWD, path)
	}
	info, notices, err := d.run.store.ImportFile(path, d.run.w.CWD)
	if err != nil {
		return err
	}
	for _, n := range notices {
		d.run.say("warn", n)
	}
	return d.Resume(ctx, info.Path)
}
