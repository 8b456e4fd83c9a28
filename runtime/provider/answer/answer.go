// Package answer puts a streamed answer together. Every client of a model
// feeds its fragments, in whatever disorder the wire delivers them, into a
// [Builder], which emits the chunks and keeps the message.
package answer

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// NoIndex is the index of a fragment that came without one.
const NoIndex = -1

// A Fragment is a piece of a tool call as it came off the wire. Any field may
// be missing.
type Fragment struct {
	Index int // NoIndex, or anything below 0, where there was none
	ID    string
	Name  string
	Args  string
}

// End says how an answer ended, as far as its calls are concerned.
type End int

const (
	// Whole answers carry every call; one whose arguments do not parse keeps
	// them in ArgsRaw.
	Whole End = iota
	// AtLimit is an answer cut off by its length: the last call may be half
	// there. One without any arguments yet is dropped; one with broken
	// arguments is kept with them in ArgsRaw, so that the model can be told.
	AtLimit
	// Broken is what came before a failure. It carries no call: nothing says
	// that the last one was complete, and none of them will be run.
	Broken
)

// A Builder collects one answer. It is used from one goroutine.
type Builder struct {
	emit func(model.Chunk)

	blocks    []*block
	text      *block // where text goes next; nil begins a new block
	reasoning *block
	calls     []*call
	last      *call
}

type block struct {
	text      *strings.Builder
	reasoning *thought
	call      *call
}

type thought struct {
	summary       strings.Builder
	id, encrypted string
}

type call struct {
	index    int
	id, name string
	wire     string // the id as the server gave it; empty where it gave none
	args     strings.Builder
	started  bool
}

// New returns a builder that reports to emit.
func New(emit func(model.Chunk)) *Builder { return &Builder{emit: emit} }

// Empty reports whether nothing arrived so far.
func (b *Builder) Empty() bool { return len(b.blocks) == 0 }

// HasCalls reports whether a call began.
func (b *Builder) HasCalls() bool { return len(b.calls) > 0 }

// Break ends the current text and reasoning: what follows is a block of its
// own. Wires that do not speak of blocks never call it.
func (b *Builder) Break() { b.text, b.reasoning = nil, nil }

// Text takes a piece of prose.
func (b *Builder) Text(s string) {
	if s == "" {
		return
	}
	if b.text == nil {
		b.text = &block{text: new(strings.Builder)}
		b.blocks = append(b.blocks, b.text)
	}
	b.text.text.WriteString(s)
	b.emit(model.Chunk{Text: s})
}

// Reasoning takes a piece of what the model thinks.
func (b *Builder) Reasoning(s string) {
	if s == "" {
		return
	}
	b.thought().summary.WriteString(s)
	b.emit(model.Chunk{Reasoning: s})
}

// Proof sets the id of the current thought, and adds to its opaque proof.
func (b *Builder) Proof(id, encrypted string) {
	t := b.thought()
	if id != "" {
		t.id = id
	}
	t.encrypted += encrypted
}

func (b *Builder) thought() *thought {
	if b.reasoning == nil {
		b.reasoning = &block{reasoning: new(thought)}
		b.blocks = append(b.blocks, b.reasoning)
	}
	return b.reasoning.reasoning
}

// Call takes a piece of a call.
func (b *Builder) Call(f Fragment) {
	c := b.find(f)
	if c == nil {
		c = &call{index: f.Index, id: b.unique(f.ID), wire: f.ID}
		b.calls = append(b.calls, c)
		b.blocks = append(b.blocks, &block{call: c})
	}
	b.last = c
	if f.Name != "" && c.name != f.Name {
		c.name += f.Name
	}
	if f.ID != "" && c.wire == "" && !c.started {
		c.id, c.wire = b.unique(f.ID), f.ID
	}
	c.args.WriteString(f.Args)
	b.report(c, f.Args)
}

// report emits what is new of a call. Nothing is said before the name is
// known; arguments that came earlier are then caught up with.
func (b *Builder) report(c *call, args string) {
	if c.name == "" {
		return
	}
	if !c.started {
		c.started = true
		args = c.args.String()
		b.emit(model.Chunk{ToolStart: &model.ToolStart{ID: c.id, Name: c.name}})
	}
	if args != "" {
		b.emit(model.Chunk{ToolArgs: &model.ToolArgs{ID: c.id, Delta: args}})
	}
}

// find returns the call that a fragment belongs to, or nil for a new one. What
// decides, strongest first: an id seen before; an index seen before, unless
// the fragment begins another call under the same index; and without either,
// the call that the last fragment belonged to.
func (b *Builder) find(f Fragment) *call {
	if f.ID != "" {
		for _, c := range b.calls {
			if c.wire == f.ID && (f.Index < 0 || c.index < 0 || c.index == f.Index) {
				return c
			}
		}
	}
	if f.Index >= 0 {
		for i := len(b.calls) - 1; i >= 0; i-- {
			if c := b.calls[i]; c.index == f.Index {
				return unlessNew(c, f)
			}
		}
		return nil
	}
	if b.last == nil || (f.ID != "" && f.Name != "") {
		return nil
	}
	return unlessNew(b.last, f)
}

// unlessNew returns c if f continues it. A server that numbers all calls alike,
// or numbers none, begins a new one with a name: under an id of its own, or
// after arguments that were complete. An id alone begins nothing: some servers
// invent one for each fragment.
func unlessNew(c *call, f Fragment) *call {
	if f.Name == "" || c.name == "" {
		return c
	}
	if f.ID != "" && c.wire != "" && f.ID != c.wire {
		return nil
	}
	if c.args.Len() > 0 && json.Valid([]byte(c.args.String())) {
		return nil
	}
	return c
}

// unique returns id, or a new one where id is empty or taken in this answer:
// a result is matched to its call by id.
func (b *Builder) unique(id string) string {
	taken := id == ""
	for _, c := range b.calls {
		taken = taken || c.id == id
	}
	if taken {
		return "call_" + rand.Text()
	}
	return id
}

// Nameless reports whether a call never got a name: the server's answer cannot
// be acted on then.
func (b *Builder) Nameless() bool {
	for _, c := range b.calls {
		if c.name == "" {
			return true
		}
	}
	return false
}

// Intact reports whether the arguments of every call are complete JSON
// objects, none being taken for {}.
func (b *Builder) Intact() bool {
	for _, c := range b.calls {
		if s := c.args.String(); s != "" && !isObject(s) {
			return false
		}
	}
	return true
}

// Message returns what was received, ended as said, and emits the end of the
// calls that it carries.
func (b *Builder) Message(end End) message.Message {
	m := message.Message{Role: message.Assistant, Time: time.Now()}
	for _, bl := range b.blocks {
		switch {
		case bl.text != nil:
			m.Content = append(m.Content, message.Text{Text: bl.text.String()})
		case bl.reasoning != nil:
			t := bl.reasoning
			m.Content = append(m.Content, message.Reasoning{ID: t.id, Summary: t.summary.String(), Encrypted: t.encrypted})
		case b.carries(bl.call, end):
			m.Content = append(m.Content, bl.call.finish())
			b.emit(model.Chunk{ToolEnd: &model.ToolEnd{ID: bl.call.id}})
		}
	}
	return m
}

// Response is what a call came to: the answer, or what came before err.
func (b *Builder) Response(end End, stop model.Stop, usage message.Usage, err error) (model.Response, error) {
	if err != nil {
		return model.Response{Message: b.Message(Broken), Usage: usage}, err
	}
	return model.Response{Message: b.Message(end), Stop: stop, Usage: usage}, nil
}

// Price adds what the call cost in US dollars, where that is not known yet and
// cost, if not nil, can tell.
func Price(u message.Usage, model string, cost func(model string, u message.Usage) float64) message.Usage {
	if u.Known && u.CostUSD == 0 && cost != nil {
		u.CostUSD = cost(model, u)
	}
	return u
}

func (b *Builder) carries(c *call, end End) bool {
	switch end {
	case Broken:
		return false
	case AtLimit:
		return c.name != "" && (c != b.last || strings.TrimSpace(c.args.String()) != "")
	}
	return c.name != ""
}

func (c *call) finish() message.ToolCall {
	raw := c.args.String()
	args, ok := Args(raw)
	tc := message.ToolCall{ID: c.id, Name: c.name, Args: args}
	if !ok {
		tc.ArgsRaw = raw
	}
	return tc
}

// Args returns raw as a JSON object. Nothing and null are {}; an object inside
// a JSON string is taken out of it, for the servers that encode twice. ok is
// false for anything else, and args is {} then.
func Args(raw string) (args json.RawMessage, ok bool) {
	raw = strings.TrimSpace(raw)
	if raw == "" || raw == "null" {
		return json.RawMessage(`{}`), true
	}
	if isObject(raw) {
		return json.RawMessage(raw), true
	}
	var inner string
	if json.Unmarshal([]byte(raw), &inner) == nil && isObject(inner) {
		return json.RawMessage(inner), true
	}
	return json.RawMessage(`{}`), false
}

func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}
