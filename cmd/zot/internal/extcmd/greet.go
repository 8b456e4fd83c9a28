package extcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/wasi"
)

// greetTime bounds how long a module may take to say hello, once it runs.
const greetTime = 10 * time.Second

// greet runs a bare module until it has said what it is called: with no folder,
// no environment, and nobody who answers it. What was compiled for that stays
// in the cache, for the day it is used.
func greet(w *workspace.Workspace) func(context.Context, []byte) (install.Greeting, error) {
	return func(ctx context.Context, module []byte) (install.Greeting, error) {
		conn, err := wasi.Start(ctx, wasi.Options{
			Module: module, Name: "module", Cache: w.Home.ModuleCache(), CallMax: greetTime,
		})
		if err != nil {
			return install.Greeting{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, greetTime)
		defer cancel()
		// Stopping it is also what ends a wait for a frame.
		defer context.AfterFunc(ctx, func() { conn.Stop(ctx, transports.Grace{}) })()
		line, err := conn.ReadFrame()
		late := ctx.Err()
		exit := conn.Stop(ctx, transports.Grace{Exit: 100 * time.Millisecond, Term: 100 * time.Millisecond})
		switch {
		case errors.Is(late, context.DeadlineExceeded):
			return install.Greeting{}, fmt.Errorf("no hello came within %v", greetTime)
		case late != nil:
			return install.Greeting{}, late
		case errors.Is(err, io.EOF):
			return install.Greeting{}, errors.New(strings.TrimSpace(fmt.Sprintf("it ended before it said hello: %v\n%s", exit, exit.StderrTail)))
		case err != nil:
			return install.Greeting{}, err
		}
		return readHello(line)
	}
}

func readHello(line []byte) (install.Greeting, error) {
	f, err := extproto.DecodeFromExtension(line)
	if err != nil {
		return install.Greeting{}, fmt.Errorf("its first line is no hello: %w", err)
	}
	hello, ok := f.(extproto.Hello)
	if !ok {
		return install.Greeting{}, fmt.Errorf("it began with %s, and the first frame must be hello", f.FrameType())
	}
	return install.Greeting{Name: hello.Name, Version: hello.Version}, nil
}
