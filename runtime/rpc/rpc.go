// Package rpc serves a session to a program: commands come as lines of JSON,
// responses and events go back the same way. docs/rpc.md is the manual and
// packages/agent/rpcproto the wire.
//
// One process serves one session. Commands are answered in the order they
// come; a prompt is answered at once and reported in events that end with
// done, and one that comes while another runs waits for its turn. The end of
// the input ends the process once nothing runs or waits.
package rpc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

// MaxLine bounds a line from the client, in bytes.
const MaxLine = 16 << 20

// Options are the settings of a server.
type Options struct {
	Host    *host.Host
	In      io.Reader
	Out     io.Writer
	Version string // of zot
	// Token, where not empty, must come in a hello before anything else.
	Token string
	// Models lists what get_models answers.
	Models func() []rpcproto.Model
	// OnStart is called when events reach the client, before the host starts.
	// Nil is allowed.
	OnStart func()
	// Asker is the one the host's guard asks. Nil answers no confirmations.
	Asker *Asker
}

// ErrAuth is returned where the client did not show the token.
var ErrAuth = errors.New("the client did not authenticate")

// A server is one conversation with a client.
type server struct {
	opts Options
	out  *writer
	open bool // the token was shown, or none is needed
}

// Serve serves until the input ends and nothing runs any more, or ctx ends.
// The host is started here, so that nothing an extension says is lost.
func Serve(ctx context.Context, opts Options) error {
	s := &server{opts: opts, out: newWriter(opts.Out), open: opts.Token == ""}
	defer opts.Host.Subscribe(s.event)()
	if opts.OnStart != nil {
		opts.OnStart()
	}
	opts.Host.Start()
	err := s.serve(ctx)
	if closeErr := s.out.close(); err == nil {
		err = closeErr
	}
	return err
}

func (s *server) event(e event.Event) {
	if out, ok := wire.FromEvent(e); ok {
		s.out.event(out)
	}
}

func (s *server) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() { // ends with the input; a read that blocks at exit dies with the process
		ended <- readLines(ctx, s.opts.In, lines)
	}()
	for {
		select {
		case line := <-lines:
			if err := s.line(ctx, line); err != nil {
				return err
			}
		case err := <-ended:
			if err != nil {
				return err
			}
			return s.opts.Host.WaitIdle(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readLines sends each line that is not blank. A line over the limit is sent
// as its first bytes, which no parser takes for a command.
func readLines(ctx context.Context, r io.Reader, lines chan<- []byte) error {
	br := bufio.NewReaderSize(r, 64<<10)
	first := true
	for {
		line, err := readLine(br)
		if first {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			first = false
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading commands: %w", err)
		}
	}
}

var tooLong = []byte("a line over the limit")

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(line) <= MaxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > MaxLine {
			line = tooLong
		}
		return line, err
	}
}

// line answers one command. An error ends the process.
func (s *server) line(ctx context.Context, line []byte) error {
	c, err := rpcproto.DecodeCommand(line)
	if bytes.Equal(line, tooLong) {
		err = fmt.Errorf("the line is over the limit of %d bytes", MaxLine)
	}
	if err != nil {
		s.out.response(rpcproto.Fail(c, err.Error()))
		return nil
	}
	if !s.open && c.Type != rpcproto.CmdHello {
		s.out.response(rpcproto.Fail(c, "auth required: the first command must be hello with the token"))
		return ErrAuth
	}
	if c.Type == rpcproto.CmdHello {
		return s.hello(c)
	}
	s.answer(ctx, c)
	return nil
}

func (s *server) hello(c rpcproto.Command) error {
	if s.opts.Token != "" && subtle.ConstantTimeCompare([]byte(c.Token), []byte(s.opts.Token)) != 1 {
		s.out.response(rpcproto.Fail(c, "auth failed: wrong token"))
		return ErrAuth
	}
	s.open = true
	if s.opts.Asker != nil && slices.Contains(c.Capabilities, rpcproto.CapConfirm) {
		s.opts.Asker.enable()
	}
	data := rpcproto.HelloData{ProtocolVersion: 1, Version: s.opts.Version}
	if conn, err := s.opts.Host.Connection(); err == nil {
		data.Provider, data.Model = conn.Provider, conn.ID
	}
	s.succeed(c, data)
	return nil
}

func (s *server) succeed(c rpcproto.Command, data any) {
	r, err := rpcproto.Succeed(c, data)
	if err != nil {
		r = rpcproto.Fail(c, err.Error())
	}
	s.out.response(r)
}

func (s *server) fail(c rpcproto.Command, err error) {
	s.out.response(rpcproto.Fail(c, err.Error()))
}
