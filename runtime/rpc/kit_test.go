package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/extensiontest"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/rpc"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// A setup is a session to be served. Its zero value has a model that answers
// "hello", no tools and no extensions.
type setup struct {
	token      string
	model      model.Client
	noModel    error             // Connect's error
	extensions map[string]string // scripts of extensiontest, by name
	tools      []tool.Tool
	policy     guard.Policy
	asker      *rpc.Asker
	out        io.WriteCloser // in place of what the client reads; closed at the end
}

// A client drives a server in the test's own process, over pipes.
type client struct {
	t     *testing.T
	host  *host.Host
	in    *io.PipeWriter
	lines chan string
	ended chan error
	stop  context.CancelFunc
	seen  []string // what was read since it was last emptied
}

// serve starts a server. Within a bubble of synctest the test ends it by leave.
func serve(t *testing.T, s setup) *client {
	t.Helper()
	c := &client{t: t, host: s.host(t), lines: make(chan string, 1<<16), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c.in = inW
	var out io.WriteCloser = outW
	if s.out != nil {
		out = s.out
	}
	go func() { // ends with the server
		err := rpc.Serve(ctx, rpc.Options{
			Host: c.host, In: inR, Out: out, Version: "1.2.3", Token: s.token, Asker: s.asker,
			Models: func() []rpcproto.Model {
				return []rpcproto.Model{{ID: "fake", Provider: "test", ContextWindow: 1000, MaxOutput: 10}}
			},
			Chosen: func() (string, string) { return "test", "wanted" },
		})
		inR.Close()
		outW.Close()
		out.Close()
		c.host.Close(context.Background())
		c.ended <- err
	}()
	go c.read(outR) // ends with the server
	return c
}

func (s setup) host(t *testing.T) *host.Host {
	t.Helper()
	if s.model == nil {
		s.model = says("hello")
	}
	o := host.Options{
		Version: "1.2.3", CWD: "/project", Tools: s.tools, Policy: s.policy,
		Plan: func() extension.Plan { return plan(s.extensions) },
		Connect: func(provider, id string) (host.Connection, error) {
			if s.noModel != nil {
				return host.Connection{}, s.noModel
			}
			if id == "" {
				id = "fake"
			}
			return host.Connection{Model: agent.Model{Client: s.model, ID: id}, Provider: "test"}, nil
		},
	}
	if s.asker != nil {
		o.Asker = s.asker
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// plan has an extension in this process for each script.
func plan(scripts map[string]string) extension.Plan {
	var p extension.Plan
	for name, text := range scripts {
		p.Entries = append(p.Entries, extension.Entry{Name: name, Version: "1", Launch: func(_ context.Context, stderr io.Writer) (transports.Conn, error) {
			script, err := extensiontest.Parse(text)
			if err != nil {
				return nil, err
			}
			return memory.New(func(ctx context.Context, s memory.Stdio) error {
				if code := script.Run(ctx, extensiontest.Stdio{In: s.In, Out: s.Out, Err: s.Err}); code != 0 {
					return memory.ExitError{Code: code}
				}
				return nil
			}, memory.Options{Stderr: stderr}), nil
		}})
	}
	slices.SortFunc(p.Entries, func(a, b extension.Entry) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// read takes what the server writes and holds it against the schemas.
func (c *client) read(r io.Reader) {
	defer close(c.lines)
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		line := scan.Text()
		checkLine(c.t, line)
		c.lines <- line
	}
}

// checkLine holds a line of the server against its schema.
func checkLine(t testing.TB, line string) {
	name := "rpc/event"
	if strings.HasPrefix(line, `{"type":"response"`) {
		name = "rpc/response"
	}
	for _, p := range schemas.Validate(name, []byte(line)) {
		t.Errorf("%s: %s", line, p.Message)
	}
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatalf("sending %.200s: %v", line, err)
		}
	}
}

// until returns the lines up to the first that contains text.
func (c *client) until(text string) []string {
	c.t.Helper()
	var got []string
	for line := range c.lines {
		got = append(got, line)
		c.seen = append(c.seen, line)
		if strings.Contains(line, text) {
			return got
		}
	}
	c.t.Fatalf("the server ended without a line with %s; it wrote:\n%s", text, strings.Join(got, "\n"))
	return nil
}

// ask sends a command and returns the response to it. Events before it are
// dropped.
func (c *client) ask(command string) string {
	c.t.Helper()
	c.send(command)
	lines := c.until(`{"type":"response"`)
	return lines[len(lines)-1]
}

// settle waits until nothing happens any more, and drops what was written.
func (c *client) settle() {
	c.t.Helper()
	synctest.Wait()
	for len(c.lines) > 0 {
		<-c.lines
	}
}

// wants sends a command and compares the response.
func (c *client) wants(command, response string) {
	c.t.Helper()
	if got := c.ask(command); got != response {
		c.t.Errorf("%s\n got %s\nwant %s", command, got, response)
	}
}

// leave ends the input and returns what is written from then on, and what the
// server ended with.
func (c *client) leave() ([]string, error) {
	c.t.Helper()
	c.in.Close()
	var rest []string
	for line := range c.lines {
		rest = append(rest, line)
	}
	return rest, <-c.ended
}

// over ends the input and wants the server to end well.
func (c *client) over() {
	c.t.Helper()
	if rest, err := c.leave(); err != nil {
		c.t.Errorf("the server ended with %v after\n%s", err, strings.Join(rest, "\n"))
	}
}

// compare compares lines.
func compare(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// kinds lists the types of events, responses as their command and success.
func kinds(lines []string) []string {
	var all []string
	for _, line := range lines {
		var l struct {
			Type, Command string
			Success       bool
		}
		_ = json.Unmarshal([]byte(line), &l)
		switch {
		case l.Type == "response" && l.Success:
			l.Type = "ok:" + l.Command
		case l.Type == "response":
			l.Type = "refused:" + l.Command
		}
		all = append(all, l.Type)
	}
	return all
}

func matches(t *testing.T, got, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("got\n  %s\nwant a match of\n  %s", got, pattern)
	}
}

// A generate is a model made of a function.
type generate func(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error)

func (g generate) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	return g(ctx, req, emit)
}

// says is a model that always gives one answer.
func says(text string) generate {
	return func(_ context.Context, _ model.Request, emit func(model.Chunk)) (model.Response, error) {
		emit(model.Chunk{Text: text})
		return answer(message.Text{Text: text}), nil
	}
}

func answer(blocks ...message.Block) model.Response {
	r := model.Response{
		Message: message.Message{Role: message.Assistant, Content: blocks}, Stop: model.StopEndTurn,
		Usage: message.Usage{Known: true, Input: 10, Output: 2},
	}
	if len(r.Message.ToolCalls()) > 0 {
		r.Stop = model.StopToolUse
	}
	return r
}

// A stage is a model whose answers the test gives one by one; each is waited
// for, with the call's end.
type stage struct{ answers chan model.Response }

func newStage() stage { return stage{make(chan model.Response)} }

func (s stage) Generate(ctx context.Context, _ model.Request, emit func(model.Chunk)) (model.Response, error) {
	select {
	case r := <-s.answers:
		if text := r.Message.Text(); text != "" {
			emit(model.Chunk{Text: text})
		}
		return r, nil
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
}

func (s stage) say(text string) { s.answers <- answer(message.Text{Text: text}) }

func (s stage) call(id, name, args string) {
	s.answers <- answer(message.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)})
}

// failing is a model that cannot be reached.
var failing = generate(func(context.Context, model.Request, func(model.Chunk)) (model.Response, error) {
	return model.Response{}, &model.Error{Provider: "test", Kind: model.KindUnavailable, Message: "it is down"}
})

// A fakeTool answers with the arguments that it got.
type fakeTool struct {
	mu  sync.Mutex
	ran []string
}

func (f *fakeTool) Spec() tool.Spec {
	return tool.Spec{Name: "echo", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (f *fakeTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran = append(f.ran, string(c.Args))
	return tool.Result{Content: []message.Block{message.Text{Text: string(c.Args)}}}, nil
}

func (f *fakeTool) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ran)
}

// A policyFor gives every call one decision.
type policyFor guard.Decision

func (p policyFor) Decide(context.Context, tool.Call, tool.Tool) guard.Decision {
	return guard.Decision(p)
}

var errNoKey = errors.New("there is no key")
