// Package agent is the loop: ask the model, run the tools it calls, hand it
// the results, and again, until it is done.
//
//	a := agent.New(agent.Options{Model: m, Tools: registry, Guard: g, Emit: bus.Publish})
//	err := a.Prompt(ctx, message.Message{...})
//
// The walk of one prompt: prompt.go begins it and repeats turn.go, which asks
// the model once and reports what it says; call.go runs the calls of a reply,
// side by side where they do not touch the same things. Whatever happens, the
// transcript stays one that a model accepts: every call in it has exactly one
// result.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A Model is the model that a turn asks, with what is always asked of it.
type Model struct {
	Client      model.Client
	ID          string
	Reasoning   string
	Temperature *float64
	MaxTokens   int
}

// Options are the settings of an Agent.
type Options struct {
	// Model says which model the next turn asks; its error ends the prompt.
	Model func() (Model, error)
	Tools *tool.Registry
	// Guard judges every call. Nil allows all.
	Guard Guard
	// Hooks are asked around a turn. Nil means none.
	Hooks Hooks
	// Emit takes what happens, in order. Nil drops it.
	Emit func(event.Event)
	// Record keeps a message of the transcript before anyone is told of it.
	// Nil keeps nothing; an error is reported once and does not stop the run.
	Record func(message.Message) error
	// MaxSteps bounds the model calls of one prompt; 0 does not.
	MaxSteps int
}

// A Guard judges a call before it runs. It is the only way to a tool.
type Guard interface {
	// Judge returns what may happen; its error is ctx's.
	Judge(ctx context.Context, call tool.Call, t tool.Tool) (Verdict, error)
}

// A Verdict is a guard's answer.
type Verdict struct {
	Allowed bool
	// Args are the arguments to run with.
	Args json.RawMessage
	// Reason says why the call is refused; the model reads it.
	Reason string
	// Changes says who changed what, for the user.
	Changes []string
}

// Hooks take part in a turn. Their errors are ctx's, or end the prompt.
type Hooks interface {
	// Begin is called before the first turn of a prompt is announced; it may
	// wait for what wants to hear of it.
	Begin(ctx context.Context)
	// BeforeCall is called before each model call; it may shorten the
	// transcript with SetTranscript.
	BeforeCall(ctx context.Context) error
	// Overflowed is told that a request was larger than the model takes. True
	// means that the transcript is shorter now and the call worth another try.
	Overflowed(ctx context.Context) bool
	// SystemPrompt returns the prompt for the next model call.
	SystemPrompt(ctx context.Context) (string, error)
	// TurnStart may refuse the turn: reason is then not empty, and by names
	// who refused.
	TurnStart(ctx context.Context, step int) (by, reason string, err error)
	// WithholdText reports whether text must stay unseen until AssistantMessage
	// has judged it.
	WithholdText() bool
	// AssistantMessage judges the text of an answer.
	AssistantMessage(ctx context.Context, text string) (TextVerdict, error)
}

// A TextVerdict says what a user may see of an answer.
type TextVerdict struct {
	Text       string
	Suppressed bool
	By, Reason string
}

// An Agent holds a conversation with a model. Prompt runs one at a time; the
// other methods may be called meanwhile.
type Agent struct {
	opts Options

	running sync.Mutex // held by Prompt

	mu         sync.Mutex
	transcript []message.Message
	usage      message.Usage
	activated  []string // deferred tools that results switched on, in order
	recordErr  bool     // a failure to record was reported
}

// New returns an agent with an empty transcript.
func New(opts Options) *Agent {
	if opts.Emit == nil {
		opts.Emit = func(event.Event) {}
	}
	if opts.Hooks == nil {
		opts.Hooks = noHooks{}
	}
	if opts.Guard == nil {
		opts.Guard = allowAll{}
	}
	return &Agent{opts: opts}
}

// Transcript returns the messages so far.
func (a *Agent) Transcript() []message.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.transcript)
}

// SetTranscript replaces the conversation: for resume, fork and compaction.
// Tools that its results activated are active again.
func (a *Agent) SetTranscript(messages []message.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.transcript = slices.Clone(messages)
	a.activated, a.recordErr = nil, false
	for _, m := range messages {
		for _, b := range m.Content {
			if r, ok := b.(message.ToolResult); ok {
				a.activate(r.Activated)
			}
		}
	}
}

// Shorten replaces the conversation by a shorter one that stands for it: tools
// that are active stay so.
func (a *Agent) Shorten(messages []message.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.transcript = slices.Clone(messages)
}

// Activated lists the deferred tools that are active, in the order in which
// they became so.
func (a *Agent) Activated() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.activated)
}

// Activate switches deferred tools on, for a resumed conversation.
func (a *Agent) Activate(names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.activate(names)
}

// DeactivateTools hides again what results activated; a reload does that.
func (a *Agent) DeactivateTools() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.activated = nil
}

// Usage returns the tokens used so far.
func (a *Agent) Usage() message.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage
}

// SetUsage sets what was used before, for a resumed conversation.
func (a *Agent) SetUsage(u message.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.usage = u
}

// activate switches tools on. a.mu is held.
func (a *Agent) activate(names []string) {
	for _, n := range names {
		if !slices.Contains(a.activated, n) {
			a.activated = append(a.activated, n)
		}
	}
}

// add puts a message in the transcript, on disk first.
func (a *Agent) add(m message.Message) {
	if a.opts.Record != nil {
		if err := a.opts.Record(m); err != nil {
			a.mu.Lock()
			told := a.recordErr
			a.recordErr = true
			a.mu.Unlock()
			if !told {
				a.opts.Emit(event.Notice{Level: "error", Text: fmt.Sprintf("this conversation cannot be saved: %v", err)})
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.transcript = append(a.transcript, m)
}

// A BlockedError says that an extension refused a turn.
type BlockedError struct{ By, Reason string }

func (e *BlockedError) Error() string { return fmt.Sprintf("turn blocked by %s: %s", e.By, e.Reason) }

// ErrMaxSteps is wrapped by the error of a prompt that used up its steps.
var ErrMaxSteps = errors.New("step limit reached")

type noHooks struct{}

func (noHooks) Begin(context.Context)                                    {}
func (noHooks) BeforeCall(context.Context) error                         { return nil }
func (noHooks) Overflowed(context.Context) bool                          { return false }
func (noHooks) SystemPrompt(context.Context) (string, error)             { return "", nil }
func (noHooks) TurnStart(context.Context, int) (by, why string, _ error) { return "", "", nil }
func (noHooks) WithholdText() bool                                       { return false }
func (noHooks) AssistantMessage(_ context.Context, text string) (TextVerdict, error) {
	return TextVerdict{Text: text}, nil
}

type allowAll struct{}

func (allowAll) Judge(_ context.Context, call tool.Call, _ tool.Tool) (Verdict, error) {
	return Verdict{Allowed: true, Args: call.Args}, nil
}
