package extension

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
)

// An Entry is an extension that may run.
type Entry struct {
	Name    string // the manifest's name: the identity everywhere
	Version string
	Scope   string // "flag", "project" or "global"
	Dir     string // absolute folder of the manifest
	RunDir  string // where it runs, as it is told; empty is Dir
	DataDir string // where the extension keeps its state
	Exec    string // as the manifest spells it, for messages
	// Launch starts the extension; what it writes to its standard error goes
	// to stderr. Nil marks a bundle without a process: it is ready at once.
	Launch func(ctx context.Context, stderr io.Writer) (transports.Conn, error)
	// Withheld names the environment variables that it does not get to see.
	Withheld []string
	// Rights is the policy for it. Nil allows everything and bounds nothing.
	Rights *policies.Bound
	// Contributes is what its manifest declares. Nil declares nothing, and then
	// anything within the rights may be registered.
	Contributes *Contributes
}

// A Plan is what should run, in rank order, and what cannot.
type Plan struct {
	Entries  []Entry
	Failures []Failure
}

// A Failure is an extension that could not be loaded.
type Failure struct {
	Name string // or the folder where the name is unknown
	Err  error
}

// Timeouts bound what the manager waits for. A zero field takes the default in
// its comment, and one below zero waits for nothing.
type Timeouts struct {
	Hello     time.Duration // 30 s: from the start of the process to its hello
	Ready     time.Duration // 3 s: from hello_ack until it counts as ready anyway
	AutoReady time.Duration // 250 ms: of silence after a registration, likewise
	Command   time.Duration // 30 s: to answer a command
	Tool      time.Duration // 60 s: to answer a tool call
	Intercept time.Duration // 5 s: to answer an intercept
	Write     time.Duration // 5 s: to take one frame
	Exit      time.Duration // 2 s: from shutdown to SIGTERM
	Term      time.Duration // 1 s: from SIGTERM to SIGKILL
	CallTool  time.Duration // 60 s: for a tool called by an extension
}

// Limits bound what the manager keeps. A zero field takes the default in its
// comment.
type Limits struct {
	QueueFrames int   // 256 frames waiting for one extension
	QueueBytes  int   // 16 MiB waiting for one extension
	LogBytes    int64 // 4 MiB: size at which a log is rotated
	LogFiles    int   // 2: older logs that are kept; below 0 none
}

// Options are the settings of a Manager.
type Options struct {
	// Plan says what should run. It is asked at start and at every reload.
	Plan func() Plan
	// Emit takes what extensions want shown, one event at a time. It must not
	// block and must not call the manager, except for Observe.
	Emit func(event.Event)
	// Host describes the session to extensions that start.
	Host func() HostInfo
	// BuiltinCommand and BuiltinTool report names that extensions cannot have.
	// Nil means none.
	BuiltinCommand func(name string) bool
	BuiltinTool    func(name string) bool
	// ToolsChanged is called, from any goroutine, when the set of tools is
	// another than before. Nil is allowed.
	ToolsChanged func()
	// CallTool runs a tool on an extension's account, guards and confirmation
	// included. Nil takes the call_tool capability away.
	CallTool func(ctx context.Context, call tool.Call) (tool.Result, error)
	// Request serves a host service by name. Nil takes the request capability
	// away.
	Request func(ctx context.Context, extension, method string, args json.RawMessage) (json.RawMessage, error)
	// Audit is called, from any goroutine, for each distinct thing that the
	// policy keeps from an extension, the first time it is tried. It must not
	// call the manager. The capability "limits" stands for a limit, with its name
	// as the value. Nil is allowed.
	Audit func(extension string, capability policies.Capability, value string, d policies.Decision)
	// Interactive says that a person is there to answer interactive tools.
	Interactive bool
	// LogDir is the folder of the extensions' logs; empty keeps none.
	LogDir   string
	Timeouts Timeouts
	Limits   Limits
}

// HostInfo is what hello_ack says of the session.
type HostInfo struct {
	ZotVersion, Provider, Model, CWD string
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// wait is orDefault for a time to wait.
func wait(v *time.Duration, def time.Duration) {
	orDefault(v, def)
	*v = max(0, *v)
}

func (o Options) withDefaults() Options {
	t := &o.Timeouts
	wait(&t.Hello, 30*time.Second)
	wait(&t.Ready, 3*time.Second)
	wait(&t.AutoReady, 250*time.Millisecond)
	wait(&t.Command, 30*time.Second)
	wait(&t.Tool, 60*time.Second)
	wait(&t.Intercept, 5*time.Second)
	wait(&t.Write, 5*time.Second)
	wait(&t.Exit, 2*time.Second)
	wait(&t.Term, time.Second)
	wait(&t.CallTool, 60*time.Second)
	l := &o.Limits
	orDefault(&l.QueueFrames, 256)
	orDefault(&l.QueueBytes, 16<<20)
	orDefault(&l.LogBytes, 4<<20)
	orDefault(&l.LogFiles, 2)
	if o.Emit == nil {
		o.Emit = func(event.Event) {}
	}
	if o.Host == nil {
		o.Host = func() HostInfo { return HostInfo{} }
	}
	if o.BuiltinCommand == nil {
		o.BuiltinCommand = func(string) bool { return false }
	}
	if o.BuiltinTool == nil {
		o.BuiltinTool = func(string) bool { return false }
	}
	if o.ToolsChanged == nil {
		o.ToolsChanged = func() {}
	}
	return o
}
