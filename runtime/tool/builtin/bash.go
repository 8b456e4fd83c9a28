package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/runtime/tool"
)

//go:embed bash.md
var bashText string

const bashSchema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "Command line to run"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds after which it is stopped"}
  },
  "required": ["command"]
}`

// bashTool runs commands, each in a session of its own: no terminal, and a
// group that is stopped as a whole.
type bashTool struct {
	opts  Options
	shell shell

	mu     sync.Mutex
	closed bool
	alive  []*process // all that run, and what they left running; see forget
}

func newBash(o Options) *bashTool { return &bashTool{opts: o, shell: findShell(o.Shell)} }

func (t *bashTool) Spec() tool.Spec {
	spill := ""
	if t.opts.SpillDir != "" {
		spill = "; all of it, up to " + size(t.opts.MaxSpill) + ", is saved to a file that the result names"
	}
	text := fill(bashText, "shell", t.shell.name(), "timeout", inSeconds(t.opts.BashTimeout), "max", inSeconds(t.opts.BashTimeoutMax),
		"lines", fmt.Sprint(t.opts.MaxLines), "bytes", size(int64(t.opts.MaxBytes)), "spill", spill)
	return tool.Spec{Name: "bash", Description: text, Schema: json.RawMessage(bashSchema)}
}

// Accesses says that a command may touch anything, so it runs alone.
func (t *bashTool) Accesses(json.RawMessage) []tool.Access {
	return []tool.Access{{Key: "*", Write: true}}
}

// Preview is the whole command: nobody can agree to what they cannot see.
func (t *bashTool) Preview(raw json.RawMessage) string {
	a, err := parseArgs(raw)
	if err != nil {
		return visible(string(raw))
	}
	command, err := a.command()
	if err != nil {
		return visible(string(raw))
	}
	return visible(command)
}

func (t *bashTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	a, err := parseArgs(call.Args)
	if err != nil {
		return failed("bash", err), nil
	}
	command, err := a.command()
	if err != nil {
		return failed("bash", err), nil
	}
	timeout, err := a.seconds("timeout")
	if err != nil {
		return failed("bash", err), nil
	}
	res, err := t.run(ctx, command, timeout, call.Progress)
	if err != nil && ctx.Err() == nil {
		return failed("bash", err), nil
	}
	return res, ctx.Err()
}

// run runs the command to its end, its timeout, or ctx's end.
func (t *bashTool) run(ctx context.Context, command string, asked time.Duration, progress func(string)) (tool.Result, error) {
	timeout := t.opts.BashTimeout
	if asked > 0 {
		timeout = min(asked, t.opts.BashTimeoutMax)
	}
	out := newOutput(t.opts, progress)
	p, err := t.start(command, out)
	if err != nil {
		out.close()
		return tool.Result{}, err
	}
	end := p.wait(ctx, timeout)
	end.capped, end.note = asked > timeout, p.note
	if len(end.running) > 0 || end.piped {
		out.detach()
	} else {
		p.release()
		out.close()
	}
	return t.result(end, out), nil
}

// start starts the shell, unless the tool is closed already.
func (t *bashTool) start(command string, out *output) (*process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errors.New("zot is shutting down: no command was started")
	}
	if info, err := os.Stat(t.opts.CWD); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the working folder %q is gone: no command can run", t.opts.CWD)
	}
	t.forget()
	cmd, note := t.shell.command(command, t.opts.CWD, t.opts.Env()), ""
	if t.opts.Confine != nil {
		var err error
		if note, err = t.opts.Confine(cmd); err != nil {
			return nil, err
		}
	}
	p, err := startProcess(cmd, out)
	if err == nil {
		p.note = note
		t.alive = append(t.alive, p)
	}
	return p, err
}

// forget drops what has ended. The lock is held.
func (t *bashTool) forget() {
	var alive []*process
	for _, p := range t.alive {
		if p.over() {
			p.release()
		} else {
			alive = append(alive, p)
		}
	}
	t.alive = alive
}

// Close stops what still runs, all of it side by side.
func (t *bashTool) Close() error {
	t.mu.Lock()
	t.closed = true
	alive := t.alive
	t.alive = nil
	t.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range alive {
		wg.Go(p.stop)
	}
	wg.Wait()
	return nil
}

// result words the end of a command.
func (t *bashTool) result(end ending, out *output) tool.Result {
	text, notes := out.text()
	hint := ""
	if !end.ok() {
		hint = interactiveHint(text)
	}
	var b strings.Builder
	b.WriteString(text)
	if text == "" {
		b.WriteString("(no output)")
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteString("\n")
	}
	notes = append([]string{end.words()}, notes...)
	if end.capped {
		notes = append(notes, fmt.Sprintf("the timeout asked for is above the most allowed, %s, which was used", t.opts.BashTimeoutMax))
	}
	if n := end.background(out.savedTo()); n != "" {
		notes = append(notes, n)
	}
	if hint != "" {
		notes = append(notes, hint)
	}
	if !end.ok() && end.note != "" {
		notes = append(notes, end.note)
	}
	b.WriteString("[" + strings.Join(notes, "; ") + "]")
	res := tool.TextResult(b.String())
	if !end.ok() {
		res.IsError, res.Status = true, tool.Failed
	}
	switch end.why {
	case timedOut:
		res.Status = tool.TimedOut
	case cancelled:
		res.Status = tool.Cancelled
	}
	return res
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%g", d.Seconds()) }
