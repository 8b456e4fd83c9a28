// Package extensiontest plays extensions from a script, for tests: on the wire
// they are real, and they can misbehave in ways that no SDK would.
//
//	send {"type":"hello","name":"guard","version":"1.0.0"}
//	await hello_ack
//	send {"type":"subscribe","intercept":["tool_call"]}
//	send {"type":"ready"}
//	on event_intercept contains rm -rf
//	  send {"type":"event_intercept_response","id":"$id","block":true,"reason":"no"}
//	on event_intercept
//	  send {"type":"event_intercept_response","id":"$id"}
//
// The lines before the first "on" run in order; after them every frame from
// zot runs the first "on" block that matches it. The steps are:
//
//	send FRAME       write a line; $id is the id of the last frame from zot, and
//	                 $call that of the last tool_call
//	raw TEXT         write a line as it stands, with Go's escapes
//	part TEXT        write a piece of a line
//	fill N           write N bytes of a line, and its end
//	repeat N FRAME   write a line N times
//	await TYPE       read on until a frame of the type comes
//	stderr TEXT      write a line to standard error
//	record FILE      from now on write every frame from zot to a file
//	touch FILE       make a file
//	pause DURATION   wait
//	deaf             read nothing any more
//	stubborn FILE    ignore SIGTERM (of the whole process) from now on, and write
//	                 its number to a file
//	exit N           leave with a status
//
// A script that ends without an "on" leaves; with one it stays until its input
// ends or it is told to shut down, unless it says itself what to do then.
package extensiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/transports"
)

// Stdio is what an extension talks through.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Script is a parsed script.
type Script struct {
	opening  []step
	handlers []handler
}

type handler struct {
	typ, contains string
	steps         []step
}

type step struct{ verb, arg string }

var verbs = map[string]bool{
	"send": true, "raw": true, "part": true, "fill": true, "repeat": true, "await": true, "stderr": true,
	"record": true, "touch": true, "pause": true, "deaf": true, "stubborn": true, "exit": true,
}

// Parse reads a script.
func Parse(text string) (*Script, error) {
	s := &Script{}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, arg, _ := strings.Cut(line, " ")
		switch {
		case verb == "on":
			typ, rest, _ := strings.Cut(arg, " contains ")
			s.handlers = append(s.handlers, handler{typ: strings.TrimSpace(typ), contains: rest})
		case !verbs[verb]:
			return nil, fmt.Errorf("line %d: unknown step %q", n+1, verb)
		case len(s.handlers) == 0:
			s.opening = append(s.opening, step{verb, arg})
		default:
			h := &s.handlers[len(s.handlers)-1]
			h.steps = append(h.steps, step{verb, arg})
		}
	}
	return s, nil
}

// Run plays the script and returns the status it leaves with.
func (s *Script) Run(ctx context.Context, io Stdio) int {
	p := &player{ctx: ctx, io: io, in: transports.NewFrameReader(io.In, 0)}
	for _, st := range s.opening {
		if code, over := p.step(st); over {
			return code
		}
	}
	if len(s.handlers) == 0 {
		return 0
	}
	for {
		line, typ, err := p.read()
		if err != nil {
			return 0
		}
		h, ok := s.find(typ, line)
		if !ok {
			if typ == "shutdown" {
				return 0
			}
			continue
		}
		for _, st := range h.steps {
			if code, over := p.step(st); over {
				return code
			}
		}
	}
}

func (s *Script) find(typ string, line []byte) (handler, bool) {
	for _, h := range s.handlers {
		if h.typ == typ && bytes.Contains(line, []byte(h.contains)) {
			return h, true
		}
	}
	return handler{}, false
}

type player struct {
	ctx    context.Context
	io     Stdio
	in     *transports.FrameReader
	id     string
	call   string
	record string
}

// read takes the next frame from zot.
func (p *player) read() (line []byte, typ string, err error) {
	line, err = p.in.ReadFrame()
	if err != nil {
		return nil, "", err
	}
	var h extproto.Head
	_ = json.Unmarshal(line, &h)
	if h.ID != "" {
		p.id = h.ID
	}
	if h.Type == "tool_call" {
		p.call = h.ID
	}
	if p.record != "" {
		f, err := os.OpenFile(p.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	return line, h.Type, nil
}

// step does one thing; over says that the extension leaves with code.
func (p *player) step(st step) (code int, over bool) {
	switch st.verb {
	case "send":
		p.write(strings.NewReplacer("$id", p.id, "$call", p.call).Replace(st.arg) + "\n")
	case "raw":
		p.write(unquote(st.arg) + "\n")
	case "part":
		p.write(unquote(st.arg))
	case "fill":
		p.write(strings.Repeat("x", number(st.arg)) + "\n")
	case "repeat":
		n, frame, _ := strings.Cut(st.arg, " ")
		for range number(n) {
			p.write(frame + "\n")
		}
	case "await":
		for {
			_, typ, err := p.read()
			if err != nil {
				return 0, true
			}
			if typ == st.arg {
				return 0, false
			}
		}
	case "stderr":
		fmt.Fprintln(p.io.Err, unquote(st.arg))
	case "record":
		p.record = st.arg
	case "touch":
		if err := os.WriteFile(st.arg, nil, 0o600); err != nil {
			fmt.Fprintln(p.io.Err, err)
		}
	case "pause":
		return 0, !p.pause(st.arg)
	case "deaf":
		// A timer, since a program in which nothing can ever happen again is
		// ended by the runtime.
		p.pause("24h")
		return 0, true
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		if err := os.WriteFile(st.arg, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			fmt.Fprintln(p.io.Err, err)
		}
	case "exit":
		return number(st.arg), true
	}
	return 0, false
}

func (p *player) pause(d string) bool {
	length, err := time.ParseDuration(d)
	if err != nil {
		panic(err)
	}
	select {
	case <-time.After(length):
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *player) write(s string) { _, _ = io.WriteString(p.io.Out, s) }

func unquote(s string) string {
	if u, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return u
	}
	return s
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		panic(err)
	}
	return n
}

// Main plays the script in a file as a process of its own: what a test binary
// runs when it is started as an extension.
func Main(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "give one script file")
		return 2
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s, err := Parse(string(text))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return 2
	}
	return s.Run(context.Background(), Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
