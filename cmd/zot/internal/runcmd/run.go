package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/rpc"
)

// closeTime bounds the end of a session: extensions get their grace, and what
// is left then is killed.
const closeTime = 4 * time.Second

// hurryTime is that bound after Ctrl-C, which is to be over within a second:
// an extension that spins in a call, or that ignores being asked to leave, does
// not get its whole grace then.
const hurryTime = 600 * time.Millisecond

// Run runs a session in the face that the flags and streams ask for.
func Run(ctx context.Context, f *Flags, words []string, s *iostreams.Streams) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.RPC {
		return serveRPC(ctx, f, s)
	}
	headless := f.Print || f.JSON || f.Stream || !s.InTerminal
	if !headless {
		return runInterface(ctx, f, words, s)
	}
	surviveClosedPipe()
	text, err := readPrompt(ctx, words, s)
	if err != nil {
		return err
	}
	if text == "" {
		return &exit.UsageError{Err: errNoPrompt}
	}
	a, err := assemble(f, s, face{})
	if err != nil {
		return err
	}
	defer a.close(ctx)
	if f.JSON {
		return a.runJSON(ctx, host.Prompt{Text: text})
	}
	return a.runPrint(ctx, host.Prompt{Text: text})
}

// close ends a session within its bound, which ran says: it is the context of
// the run.
func (a *run) close(ran context.Context) {
	bound := closeTime
	if exit.ByInterrupt(ran) {
		bound = hurryTime
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	a.stopWatch()
	a.host.Close(ctx)
	a.closeOwn()
	a.connect.demo.close()
	a.jail.close()
}

// serveRPC serves a program on standard input and output.
func serveRPC(ctx context.Context, f *Flags, s *iostreams.Streams) error {
	surviveClosedPipe()
	asker := &rpc.Asker{}
	a, err := assemble(f, s, face{asker: asker})
	if err != nil {
		return err
	}
	defer a.close(ctx)
	asker.Unasked = func() {
		const text = "the client answers no confirmations: what --no-yolo would ask about runs, what a policy would ask about is refused"
		fmt.Fprintln(s.Err, "zot: warn: "+text)
		a.host.Publish(event.Notice{Level: "warn", Text: text})
	}
	err = rpc.Serve(ctx, rpc.Options{
		Host: a.host, In: s.In, Out: s.Out, Version: version.Number, Token: os.Getenv(rpcproto.TokenVariable),
		Models: a.connect.models, Chosen: a.connect.chosen, Asker: asker, OnStart: a.announce,
	})
	if errors.Is(err, rpc.ErrAuth) {
		return fmt.Errorf("%w: the token in %s must come in the first hello", err, rpcproto.TokenVariable)
	}
	return err
}
