package runcmd

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

// jsonWriter writes one event per line.
type jsonWriter struct {
	w      io.Writer
	broken func() // called when it cannot be written to; nil is allowed

	mu     sync.Mutex
	err    error // of the first write that failed
	failed bool  // an error event is out
	done   bool  // the prompt's end is out
}

func (j *jsonWriter) handle(e event.Event) {
	if out, ok := wire.FromEvent(e); ok {
		j.write(out)
	}
}

func (j *jsonWriter) write(e rpcproto.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.put(e)
}

// put is write for those who hold j.mu.
func (j *jsonWriter) put(e rpcproto.Event) {
	line, err := rpcproto.EncodeEvent(e)
	switch e.(type) {
	case rpcproto.Error:
		j.failed = true
	case rpcproto.Done:
		j.done = true
	}
	if j.err != nil {
		return
	}
	if err == nil {
		_, err = j.w.Write(append(line, '\n'))
	}
	if err != nil {
		j.err = fmt.Errorf("writing events: %w", err)
		if j.broken != nil {
			j.broken()
		}
	}
}

// prompt passes on the events of the one prompt there is: its done is the last
// line, whatever an extension still has to say.
func (j *jsonWriter) prompt(e event.Event) {
	out, ok := wire.FromEvent(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	if ok && !j.done {
		j.put(out)
	}
}

// finish writes what has not been said of a run that ended with err, and
// returns what went wrong. Nothing comes between an error and the end.
func (j *jsonWriter) finish(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if err != nil && !j.failed {
		j.put(rpcproto.Error{Message: err.Error()})
	}
	if !j.done {
		j.put(rpcproto.Done{})
	}
	switch {
	case j.err != nil:
		return j.err
	case err != nil:
		return &exit.Error{Code: exit.CodeOf(err), Err: err, Silent: true}
	}
	return nil
}

// runJSON answers one prompt with its events. A failure is an error event and
// a status of 1. Notices are written for people to standard error, too.
func (a *run) runJSON(outer context.Context, prompt host.Prompt) error {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	j := &jsonWriter{w: a.streams.Out, broken: cancel}
	notices := &printer{s: a.streams}
	defer a.host.Subscribe(func(e event.Event) {
		j.prompt(e)
		notices.aside(e)
	})()
	a.announce()
	a.host.Start()
	err := a.runInput(ctx, prompt, func(text string) { j.write(rpcproto.ExtDisplay{Text: text}) })
	if outer.Err() != nil {
		return err
	}
	return j.finish(err)
}
