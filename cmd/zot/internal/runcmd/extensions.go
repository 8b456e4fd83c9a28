package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
)

// planner turns what discovery finds into what the manager runs. It looks
// anew each time, so that a reload sees what changed on disk.
type planner struct {
	w        *workspace.Workspace
	explicit []string
	noExt    bool
	version  string
	withhold []string // names of variables that hold credentials
	held     func(*discovery.Candidate)
}

func (p *planner) plan() extension.Plan {
	found, err := p.w.Extensions(p.explicit, p.noExt, p.version)
	var plan extension.Plan
	if err != nil {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	for _, err := range found.Problems {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	for _, c := range found.Candidates {
		switch c.State {
		case discovery.Load:
			plan.Entries = append(plan.Entries, p.entry(c))
		case discovery.Invalid:
			plan.Failures = append(plan.Failures, extension.Failure{Name: c.Name, Err: p.fault(c)})
		case discovery.Held:
			if p.held != nil {
				p.held(c)
			}
		}
	}
	return plan
}

// fault says what is wrong with a manifest, with the line it is on.
func (p *planner) fault(c *discovery.Candidate) error {
	var file *schemas.FileError
	if errors.As(c.Err, &file) {
		return errors.New(file.Render())
	}
	return c.Err
}

func (p *planner) entry(c *discovery.Candidate) extension.Entry {
	m := c.Manifest
	e := extension.Entry{
		Name: m.Name, Version: m.Version, Scope: string(c.Scope), Dir: c.Dir, DataDir: c.Dir, Exec: m.Exec,
	}
	if m.Kind() != manifest.Protocol {
		return e
	}
	var env []string
	env, e.Withheld = extension.Environ(p.w.Environ, p.withhold, m.Env, m.Name, p.w.CWD)
	e.Launch = func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
		return p.launch(ctx, m, c.Dir, env, stderr)
	}
	return e
}

// launch starts the extension the way its manifest says.
func (p *planner) launch(ctx context.Context, m *manifest.Manifest, dir string, env []string, stderr io.Writer) (transports.Conn, error) {
	if m.Transport != manifest.Subprocess {
		return nil, fmt.Errorf("%s runs as %s, which this build of zot cannot start", m.Exec, m.Transport)
	}
	path, err := subprocess.Resolve(dir, m.Exec)
	if err != nil {
		return nil, err
	}
	conn, err := subprocess.Start(ctx, subprocess.Options{
		Path: path, Args: m.Args, Dir: dir, Env: env, Stderr: stderr,
		MaxFrame: int(p.w.Settings.Config.Limits.Frame),
	})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// managerOptions are the settings of the extension manager.
func managerOptions(w *workspace.Workspace) extension.Options {
	t, l := w.Settings.Config.Timeouts, w.Settings.Config.Limits
	return extension.Options{
		LogDir: filepath.Clean(w.Home.LogsDir()),
		Timeouts: extension.Timeouts{
			Hello: t.Hello, Ready: t.Ready, AutoReady: t.AutoReady, Command: t.Command, Tool: t.Tool,
			Intercept: t.Intercept, Write: t.Write, Exit: t.Shutdown, Term: t.Term, CallTool: t.Tool,
		},
		Limits: extension.Limits{
			QueueFrames: l.QueueFrames, QueueBytes: int(l.QueueBytes), LogBytes: int64(l.Log),
		},
	}
}
