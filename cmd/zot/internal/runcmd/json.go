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
	mu  sync.Mutex
	w   io.Writer
	err error
	// failed says that an error event is out, so that none is added.
	failed bool
}

func (j *jsonWriter) handle(e event.Event) {
	if out, ok := wire.FromEvent(e); ok {
		j.write(out)
	}
}

func (j *jsonWriter) write(e rpcproto.Event) {
	line, err := rpcproto.EncodeEvent(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, isError := e.(rpcproto.Error); isError {
		j.failed = true
	}
	if err == nil && j.err == nil {
		_, err = j.w.Write(append(line, '\n'))
	}
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("writing events: %w", err)
	}
}

// runJSON answers one prompt with its events. A failure is an error event and
// a status of 1.
func (a *run) runJSON(ctx context.Context, prompt host.Prompt) error {
	j := &jsonWriter{w: a.streams.Out}
	defer a.host.Subscribe(j.handle)()
	a.announce()
	a.host.Start()
	err := runInput(ctx, a.host, prompt, func(text string) { j.write(rpcproto.ExtDisplay{Text: text}) })
	if err != nil && ctx.Err() == nil {
		if !j.failed {
			j.write(rpcproto.Error{Message: err.Error()})
		}
		return &exit.Error{Code: exit.CodeOf(err), Err: err, Silent: true}
	}
	if err == nil {
		err = j.err
	}
	return err
}
