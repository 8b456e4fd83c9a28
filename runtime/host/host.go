// Package host puts a session together: the model, the tools, the extensions,
// the guard and the loop between them. It is the only package that knows them
// all, and every face (terminal, print, json, rpc, an embedding program) drives
// the same one.
//
//	h, err := host.New(host.Options{CWD: dir, Connect: connect})
//	defer h.Close(context.Background())
//	h.Subscribe(func(e event.Event) { ... })
//	h.Start()
//	err = h.Run(ctx, host.Prompt{Text: "what is in this folder?"})
//
// A prompt walks from queue.go to the agent; what the agent asks around a turn
// is answered in hooks.go; the system prompt, and the extensions' say in it, is
// kept in sysprompt.go; slash commands of extensions are in command.go.
package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/bus"
	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/compact"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A Connection is a model that can be asked.
type Connection struct {
	agent.Model
	Provider      string
	ContextWindow int // tokens; 0 where unknown
}

// Options are the settings of a session.
type Options struct {
	Version string // zot's own, for extensions
	CWD     string // absolute project folder
	// Connect makes the connection to a model; empty names take the configured
	// ones. It is called before the first turn and when the model is changed.
	Connect func(provider, model string) (Connection, error)
	// Tools are the built-in tools.
	Tools []tool.Tool
	// Only, where not nil, names all tools there may be, extensions' too.
	Only []string
	// Plan says which extensions run. Nil runs none.
	Plan func() extension.Plan
	// Extensions are the manager's further settings. Its Plan, Emit, Host,
	// names and callbacks are set here.
	Extensions extension.Options
	// SystemPrompt assembles the prompt from the tools that are advertised,
	// before extensions have their say. Nil sends none.
	SystemPrompt func(tools []tool.Spec) string
	// Policy judges tool calls; nil allows all. Asker puts questions to a
	// person; nil where none is there.
	Policy guard.Policy
	Asker  guard.Asker
	// Conversation is what the session begins with; the zero value is a new one
	// of which nothing is kept.
	Conversation Conversation
	MaxSteps     int
	// CompactAt is how full, in percent, the model's window may be before the
	// conversation is shortened by itself; 0 never does.
	CompactAt int
	// ReadyWait bounds how long the first model request waits for extensions;
	// 0 means 15 s.
	ReadyWait time.Duration
	// Settled, if not nil, waits until the session is what its user wants it to
	// be, or ctx ends: prompts wait for it before their first turn.
	Settled func(ctx context.Context)
	// BuiltinCommand reports slash commands of the face, which extensions
	// cannot have.
	BuiltinCommand func(name string) bool
}

// A Host is an assembled session.
type Host struct {
	opts     Options
	bus      bus.Bus
	registry *tool.Registry
	manager  *extension.Manager
	agent    *agent.Agent
	guard    *guard.Guard
	prompt   systemPrompt
	queue    queue

	connecting sync.Mutex // held while the first connection is made; before mu
	refreshing sync.Mutex // held while the registry takes over the extensions' tools

	mu        sync.Mutex // guards below
	conn      *Connection
	sessionID string
	journal   Journal // or nil
	auto      compact.Auto
	lastTurn  message.Usage
	warned    bool // extensions that were late for the first request were named
}

// New assembles a session; nothing runs before [Host.Start].
func New(opts Options) (*Host, error) {
	if opts.Connect == nil {
		return nil, fmt.Errorf("host: Options.Connect is missing")
	}
	if opts.ReadyWait == 0 {
		opts.ReadyWait = 15 * time.Second
	}
	opts.ReadyWait = max(0, opts.ReadyWait)
	h := &Host{opts: opts, registry: tool.NewRegistry(opts.Tools...)}
	if opts.Only != nil {
		h.registry.Restrict(opts.Only)
	}
	h.manager = extension.New(h.extensionOptions())
	h.bus.Subscribe(h.manager.Observe)
	h.guard = guard.New(guard.Options{
		Interceptor: interceptor{h.manager}, Policy: opts.Policy, Asker: opts.Asker, Emit: h.bus.Publish,
	})
	h.agent = agent.New(agent.Options{
		Model: h.model, Tools: h.registry, Guard: h.guard, Hooks: hooks{h},
		Emit: h.report, Record: h.record, MaxSteps: opts.MaxSteps,
	})
	h.adopt(opts.Conversation)
	h.bus.Subscribe(h.recordUsage)
	h.prompt.init(h)
	h.queue.init(h)
	return h, nil
}

func (h *Host) extensionOptions() extension.Options {
	o := h.opts.Extensions
	o.Plan = h.opts.Plan
	if o.Plan == nil {
		o.Plan = func() extension.Plan { return extension.Plan{} }
	}
	o.Emit = h.bus.Publish
	o.Host = h.info
	o.BuiltinCommand = h.opts.BuiltinCommand
	o.BuiltinTool = func(name string) bool { return h.registry.IsBuiltin(name) }
	o.ToolsChanged = h.refreshTools
	o.CallTool = func(ctx context.Context, c tool.Call) (tool.Result, error) { return h.agent.Call(ctx, c) }
	return o
}

// refreshTools gives the registry the tools that extensions own now. Extensions
// start side by side: one at a time, so that an older list never comes last.
func (h *Host) refreshTools() {
	h.refreshing.Lock()
	defer h.refreshing.Unlock()
	h.registry.SetExtensions(h.manager.Tools())
}

// Subscribe calls fn with everything that happens, in order, until cancel is
// called. fn must be quick.
func (h *Host) Subscribe(fn func(event.Event)) (cancel func()) { return h.bus.Subscribe(fn) }

// Publish reports something of a face's own to all that watch the session.
func (h *Host) Publish(e event.Event) { h.bus.Publish(e) }

// Start starts the extensions and opens the session; it does not wait.
func (h *Host) Start() {
	h.manager.Start()
	h.manager.OpenSession(h.SessionID(), h.opts.CWD)
}

// Close ends the session: the running prompt is cancelled, then the extensions
// are asked to leave. When ctx ends they are killed.
func (h *Host) Close(ctx context.Context) {
	h.queue.close()
	h.manager.CloseSession("shutdown")
	h.manager.Stop(ctx)
	for _, t := range h.opts.Tools {
		if c, ok := t.(interface{ Close() error }); ok {
			_ = c.Close()
		}
	}
	h.closeJournal()
}

// CWD is the project's folder.
func (h *Host) CWD() string { return h.opts.CWD }

// SessionID is the id of the conversation.
func (h *Host) SessionID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessionID
}

// info tells starting extensions about the session.
func (h *Host) info() extension.HostInfo {
	i := extension.HostInfo{ZotVersion: h.opts.Version, CWD: h.opts.CWD}
	if c, err := h.connection(); err == nil {
		i.Provider, i.Model = c.Provider, c.ID
	}
	return i
}

// connection returns the current connection, made on first use. A failure is
// not remembered: the user may mend it meanwhile. Nothing else waits for a
// connection that is slow to make.
func (h *Host) connection() (Connection, error) {
	h.connecting.Lock()
	defer h.connecting.Unlock()
	if c := h.connected(); c != nil {
		return *c, nil
	}
	fresh, err := h.opts.Connect("", "")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil { // SetModel was quicker
		return *h.conn, nil
	}
	if err != nil {
		return Connection{}, err
	}
	h.conn = &fresh
	return fresh, nil
}

func (h *Host) connected() *Connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conn
}

func (h *Host) model() (agent.Model, error) {
	c, err := h.connection()
	return c.Model, err
}

// Connection returns the model in use, or why there is none.
func (h *Host) Connection() (Connection, error) { return h.connection() }

// SetModel changes the model of later turns.
func (h *Host) SetModel(provider, model string) error {
	c, err := h.opts.Connect(provider, model)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.conn = &c
	h.mu.Unlock()
	h.prompt.reset()
	h.recordModel(c)
	h.bus.Publish(event.ModelChanged{Provider: c.Provider, Model: c.ID})
	return nil
}

// SetReasoning changes how hard later turns think; see model.Request.
func (h *Host) SetReasoning(level string) error {
	if _, err := h.connection(); err != nil {
		return err
	}
	h.mu.Lock()
	c := *h.conn // of now: the model may have been changed meanwhile
	c.Reasoning = level
	h.conn = &c
	h.mu.Unlock()
	h.recordModel(c)
	return nil
}

// Transcript returns the conversation so far, Usage the tokens it took.
func (h *Host) Transcript() []message.Message { return h.agent.Transcript() }

// ContextUsed is how many tokens the conversation took of the model's window
// at the last model call; 0 where that is not known.
func (h *Host) ContextUsed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lastTurn.Context()
}

// Usage returns the tokens used so far.
func (h *Host) Usage() message.Usage { return h.agent.Usage() }

// Tools lists what the model is told of, in order.
func (h *Host) Tools() []tool.Spec {
	var specs []tool.Spec
	for _, t := range h.registry.All() {
		specs = append(specs, t.Spec())
	}
	return specs
}

// Guard is the judge of tool calls.
func (h *Host) Guard() *guard.Guard { return h.guard }

// Extensions is the manager of the session's extensions.
func (h *Host) Extensions() *extension.Manager { return h.manager }

// Commands lists the slash commands of extensions, sorted by name.
func (h *Host) Commands() []command.Command {
	all := h.manager.Commands()
	slices.SortFunc(all, func(a, b command.Command) int {
		return cmpStrings(command.Fold(a.Name), command.Fold(b.Name))
	})
	return all
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Reload stops and starts extensions, all or the one called name, with the
// registry, the system prompt and activated tools as after a fresh start.
func (h *Host) Reload(ctx context.Context, name string) (extension.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.ReadyWait)
	defer cancel()
	report, err := h.manager.Reload(ctx, name)
	if err != nil {
		return report, err
	}
	h.refreshTools()
	h.deactivateTools()
	h.prompt.reset()
	return report, nil
}

// WaitReady waits until every extension is ready or has failed, within the
// ready wait, and names those that were late, once.
func (h *Host) WaitReady(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, h.opts.ReadyWait)
	defer cancel()
	late := h.manager.WaitReady(limited)
	h.mu.Lock()
	tell := len(late) > 0 && !h.warned && ctx.Err() == nil
	h.warned = h.warned || tell
	h.mu.Unlock()
	if tell {
		h.bus.Publish(event.Notice{Level: "warn", Text: fmt.Sprintf(
			"not ready within %s, so this goes on without: %s", h.opts.ReadyWait, strings.Join(h.whyLate(late), "; "))})
	}
}

// whyLate says of each extension what has not come, where it is, and where it
// may have said more.
func (h *Host) whyLate(names []string) []string {
	var out []string
	for _, s := range h.manager.Status() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		text := s.Name
		if s.Waits != "" { // or it came just now
			text += ": " + s.Waits
		}
		if s.Exec != "" {
			text += ", program " + s.Exec
		}
		if s.LogPath != "" {
			text += ", log " + s.LogPath
		}
		out = append(out, text)
	}
	return out
}
