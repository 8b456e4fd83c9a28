package ext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// ErrEnded is returned by calls to the host after the run is over.
var ErrEnded = errors.New("the connection to zot has ended")

// HostInfo is what zot tells about itself in the handshake.
type HostInfo struct {
	ProtocolVersion int
	ZotVersion      string
	Provider        string // of the model in use when the extension was started
	Model           string
	CWD             string // the user's project; the process itself runs in ExtensionDir
	ExtensionDir    string // where the manifest is
	DataDir         string // where the extension may keep files of its own
	// Capabilities names optional services of this host, like "call_tool".
	Capabilities []string
}

// An Extension collects what is offered to zot and then speaks the protocol.
// Build it with [New]. All its methods are safe for concurrent use.
type Extension struct {
	name, version string

	mu        sync.Mutex // guards all below
	log       io.Writer
	commands  registry[*command]
	tools     registry[*tool]
	events    registry[func(Event)]
	hooks     hooks
	panels    map[string]*panel
	onHello   func(HostInfo)
	onExit    func()
	host      HostInfo
	announced bool             // registrations now go out at once
	held      []extproto.Frame // sent before the handshake, until it is done
	run       *run             // nil before Run
}

// New returns an extension. The name is that of its manifest.
func New(name, version string) *Extension {
	return &Extension{name: name, version: version, log: os.Stderr, panels: map[string]*panel{}}
}

// Host returns what the host told in the handshake, the zero value before it.
func (e *Extension) Host() HostInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.host
}

// OnHello has fn called once, after the handshake and before anything
// registered is announced. It is the place for registrations that depend on
// the host.
func (e *Extension) OnHello(fn func(HostInfo)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onHello = fn
}

// OnShutdown has fn called once when the run ends, after the running handlers
// were told to stop. zot kills a process that has not left two seconds after
// the end began.
func (e *Extension) OnShutdown(fn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onExit = fn
}

// Context ends when the run does. It is for goroutines that outlive a handler.
// Before [Extension.Run] it is the background context.
func (e *Extension) Context() context.Context {
	if r := e.current(); r != nil {
		return r.ctx
	}
	return context.Background()
}

// Command registers a slash command; name has no slash and is matched without
// regard to case. The handler gets what the user typed after the name, trimmed,
// and has 30 seconds.
func (e *Extension) Command(name, description string, handler func(args string) Response) {
	e.CommandContext(name, description, func(_ context.Context, args string) Response { return handler(args) })
}

// CommandContext is [Extension.Command] for a handler that wants to know when
// the run ends.
func (e *Extension) CommandContext(name, description string, handler func(ctx context.Context, args string) Response) {
	name = strings.TrimPrefix(name, "/")
	c := &command{name: name, description: description, handler: handler}
	e.register(func() bool { return e.commands.set(strings.ToLower(name), c) }, c.frame)
}

// register records something by set and, once the first registrations are out,
// announces it where it is new. A name that was there keeps its place and gets
// the new handler.
func (e *Extension) register(set func() (isNew bool), frame func() extproto.Frame) {
	e.mu.Lock()
	send := set() && e.announced
	e.mu.Unlock()
	if send {
		e.push(frame())
	}
}

// Notify shows the user a note. Level is "info", "success", "warn" or "error".
// A note stays until the user's next prompt.
func (e *Extension) Notify(level, message string) {
	e.push(extproto.Notify{Level: level, Message: message})
}

// ClearNotes removes the notes of this extension.
func (e *Extension) ClearNotes() { e.push(extproto.ClearNotes{}) }

// Submit hands text to zot as if the user had typed it as a prompt; it waits
// in the queue while a prompt is being worked on. It only does something where
// there is an editor, and blank text is ignored.
func (e *Extension) Submit(text string) { e.push(extproto.Submit{Text: text}) }

// Logf writes a line to standard error, which zot keeps in the extension's log
// file. The extension's name stands before it.
func (e *Extension) Logf(format string, args ...any) {
	line := fmt.Sprintf("[%s] %s\n", e.name, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
	e.mu.Lock()
	defer e.mu.Unlock()
	io.WriteString(e.log, line)
}

// LogTo has [Extension.Logf] write to w instead of standard error.
func (e *Extension) LogTo(w io.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = w
}

func (e *Extension) current() *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run
}

// push sends a frame that nobody waits for. Before the handshake it is held
// back, because nothing may come before it.
func (e *Extension) push(f extproto.Frame) {
	e.mu.Lock()
	if e.run == nil || !e.run.greeted {
		e.held = append(e.held, f)
		e.mu.Unlock()
		return
	}
	r := e.run
	e.mu.Unlock()
	if err := r.out.write(f); err != nil && !errors.Is(err, ErrEnded) {
		e.Logf("%v", err)
	}
}

// A registry keeps things by name in the order of their first registration.
type registry[T any] struct {
	order []string
	byKey map[string]T
}

func (r *registry[T]) set(key string, v T) (isNew bool) {
	if r.byKey == nil {
		r.byKey = map[string]T{}
	}
	_, had := r.byKey[key]
	if !had {
		r.order = append(r.order, key)
	}
	r.byKey[key] = v
	return !had
}
