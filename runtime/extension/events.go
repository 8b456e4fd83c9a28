package extension

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

// subscribe adds to what an extension observes and is asked about.
func (m *Manager) subscribe(p *peer, f extproto.Subscribe) {
	m.update(func(fx *effects) {
		sc := p.scope.Load()
		for _, e := range f.Events {
			if slices.Contains(extproto.ObservableEvents, e) && p.mayObserve(fx, sc, e) {
				p.observes[e] = true
			}
		}
		for _, e := range f.Intercept {
			if slices.Contains(extproto.InterceptableEvents, e) && p.mayIntercept(fx, sc, e) {
				p.intercepts[e] = true
			}
		}
	})
	for _, e := range f.Intercept {
		if !slices.Contains(extproto.InterceptableEvents, e) {
			p.diagnose(false, "%q cannot be intercepted", e)
		}
	}
	for _, e := range f.Events {
		if !slices.Contains(extproto.ObservableEvents, e) {
			p.diagnose(false, "%q is no event that is told of", e)
		}
	}
}

// OpenSession tells every subscriber, those that become ready later too, that
// a session began.
func (m *Manager) OpenSession(id, cwd string) {
	e := extproto.Event{Event: extproto.EventSessionStart}
	m.update(func(*effects) {
		m.info = sessionInfo{id: id, cwd: cwd}
		m.session = &e
		m.tellAll(e)
	})
}

// CloseSession tells every subscriber that the session ended. Reason is
// "shutdown", "session_switch" or "cwd_change".
func (m *Manager) CloseSession(reason string) {
	m.update(func(*effects) {
		m.tellAll(extproto.Event{Event: extproto.EventSessionEnd, Reason: reason})
		m.session = nil
		for _, p := range m.peers {
			p.early = nil
		}
	})
}

// Observe tells the subscribers what a run reports. It never blocks and emits
// nothing itself, so that it can subscribe to the bus that Emit publishes on.
func (m *Manager) Observe(e event.Event) {
	wire, ok := toWire(e)
	if !ok {
		return
	}
	m.update(func(*effects) {
		m.tellAll(wire)
		if wire.Event == extproto.EventModelChanged {
			m.keepEarly(wire, StateGreeted) // its hello_ack named the model before
		}
	})
}

// UserPromptSubmitted tells subscribers, those that become ready later too,
// that the user sent a prompt.
func (m *Manager) UserPromptSubmitted(text string, queued bool, images int) {
	m.update(func(*effects) {
		e := extproto.Event{Event: extproto.EventUserPromptSubmit, Text: text, Queued: &queued, ImageCount: images}
		m.tellAll(e)
		m.keepEarly(e, StateStarting, StateGreeted)
	})
}

// keepEarly keeps an event for extensions that are not ready yet, in one of the
// states. m.mu is held.
func (m *Manager) keepEarly(e extproto.Event, states ...State) {
	for _, p := range m.peers {
		if slices.Contains(states, p.state) && len(p.early) < maxEarly {
			p.early = append(p.early, e)
		}
	}
}

// maxEarly is how many events are kept for an extension that is on its way.
const maxEarly = 32

// tellAll sends one event to every ready subscriber, encoded once for each
// level of detail. m.mu is held, so that all of them get events in the same
// order.
func (m *Manager) tellAll(e extproto.Event) {
	var lines [policies.LevelFull + 1][]byte
	stamped := false
	for _, p := range m.peers {
		level := p.scope.Load().event(e.Event)
		if !p.isReady() || !p.observes[e.Event] || level == policies.LevelNone {
			continue
		}
		if !stamped {
			e, stamped = m.stamp(e), true
		}
		if lines[level] == nil {
			if lines[level] = encodeEvent(e, level); lines[level] == nil {
				return
			}
		}
		_ = p.out.post(lines[level]) // where it fails, the outbox takes the peer down
	}
}

// tell sends one event to one peer. m.mu is held.
func (m *Manager) tell(p *peer, e extproto.Event) {
	level := p.scope.Load().event(e.Event)
	if p.observes[e.Event] && level > policies.LevelNone {
		if line := encodeEvent(m.stamp(e), level); line != nil {
			_ = p.out.post(line)
		}
	}
}

// stamp adds what every event carries. m.mu is held.
func (m *Manager) stamp(e extproto.Event) extproto.Event {
	m.sequence++
	e.SessionID, e.CWD, e.Sequence = m.info.id, m.info.cwd, m.sequence
	return e
}

func encodeEvent(e extproto.Event, level policies.Level) []byte {
	if level == policies.LevelRedacted {
		e = redact(e)
	}
	line, err := extproto.Encode(e)
	if err != nil {
		return nil
	}
	return line
}

// toWire translates what a run reports; most of it is of no concern to
// extensions.
func toWire(e event.Event) (extproto.Event, bool) {
	switch e := e.(type) {
	case event.TurnStart:
		return extproto.Event{Event: extproto.EventTurnStart, Step: e.Step}, true
	case event.TurnEnd:
		return extproto.Event{Event: extproto.EventTurnEnd, Stop: e.Stop, Error: e.Error}, true
	case event.ToolCall:
		return withArgs(extproto.Event{
			Event: extproto.EventToolCall, ToolID: e.ID, ToolName: e.Name, OriginExtension: e.Origin,
		}, e.Args, e.ArgsRaw), true
	case event.ConfirmationRequested:
		return extproto.Event{
			Event: extproto.EventToolConfirmation, ToolID: e.ToolID, ToolName: e.ToolName, ToolPreview: e.Preview,
		}, true
	case event.PermissionDecision:
		return extproto.Event{
			Event: extproto.EventPermissionDecision, ToolID: e.ToolID, ToolName: e.ToolName,
			Decision: e.Decision, Source: e.Source, Stage: e.Stage, Reason: e.Reason,
		}, true
	case event.ToolResult:
		executed := e.Executed
		return withArgs(extproto.Event{
			Event: extproto.EventToolResult, ToolID: e.ID, ToolName: e.Name,
			Status: e.Status, Executed: &executed, Result: eventResult(e), OriginExtension: e.Origin,
		}, e.Args, e.ArgsRaw), true
	case event.AssistantMessage:
		if e.Suppressed || e.Visible == "" {
			return extproto.Event{}, false
		}
		return extproto.Event{Event: extproto.EventAssistantMessage, Text: e.Visible}, true
	case event.CompactStart:
		return extproto.Event{
			Event: extproto.EventPreCompact, CompactionID: e.ID, MessageCount: e.MessageCount, TokenEstimate: e.Tokens,
		}, true
	case event.CompactDone:
		status := "completed"
		if e.Error != "" {
			status = "failed"
		}
		return extproto.Event{
			Event: extproto.EventPostCompact, CompactionID: e.ID, MessageCount: e.MessageCount, TokenEstimate: e.Tokens,
			Status: status, Error: e.Error,
		}, true
	case event.ModelChanged:
		return extproto.Event{Event: extproto.EventModelChanged, Provider: e.Provider, Model: e.Model}, true
	}
	return extproto.Event{}, false
}

// withArgs adds the arguments of a call: as JSON, or as the text that they are
// where a model wrote what is none.
func withArgs(e extproto.Event, args json.RawMessage, raw string) extproto.Event {
	if raw == "" && len(args) > 0 && !json.Valid(args) {
		raw = string(args)
	}
	if e.ToolArgsRaw = raw; raw == "" {
		e.ToolArgs = args
	}
	return e
}

// The budget of a tool_result event.
const (
	maxEventResult = 256 << 10
	maxEventBlocks = 128
)

// eventResult copies a result within the event's budget. A call that did not
// run and left no words has none.
func eventResult(e event.ToolResult) *extproto.EventResult {
	if !e.Executed && len(e.Content) == 0 {
		return nil
	}
	content, cut := wireBlocks(e.Content, maxEventResult, maxEventBlocks)
	return &extproto.EventResult{Content: content, IsError: e.IsError, Truncated: cut}
}

// wireBlocks encodes blocks within a budget of bytes and blocks: text is cut
// at a rune, images that do not fit are left out.
func wireBlocks(blocks []message.Block, budget, most int) (out []extproto.Block, cut bool) {
	out = []extproto.Block{}
	for _, b := range blocks {
		if len(out) == most {
			return out, true
		}
		switch b := b.(type) {
		case message.Text:
			text := b.Text
			if len(text) > budget {
				text, cut = cutText(text, budget), true
			}
			budget -= len(text)
			out = append(out, extproto.Block{Type: extproto.BlockText, Text: text, Format: b.Format})
		case message.Image:
			if base64.StdEncoding.EncodedLen(len(b.Data)) > budget {
				cut = true
				continue
			}
			data := base64.StdEncoding.EncodeToString(b.Data)
			budget -= len(data)
			out = append(out, extproto.Block{Type: extproto.BlockImage, MIMEType: b.MIMEType, Data: data})
		}
	}
	return out, cut
}

// cutText is s up to n bytes, whole runes only.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// objectOrEmpty returns args, or {} where there are none.
func objectOrEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage("{}")
	}
	return args
}
