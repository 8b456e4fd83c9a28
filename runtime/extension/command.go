package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/transports"
)

// ErrUnknownCommand is returned for a name that no running extension owns.
var ErrUnknownCommand = errors.New("no such command")

// Commands lists the commands that extensions own now, in rank order.
func (m *Manager) Commands() []command.Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []command.Command
	for _, p := range m.peers {
		for _, reg := range p.commands {
			if m.dir.activeCommand(reg) {
				all = append(all, command.Command{Name: reg.Name, Description: reg.Description, Extension: p.entry.Name})
			}
		}
	}
	return all
}

// RunCommand runs a command, its name matched without regard to case, and
// waits for the answer. The extension's own error is in the answer; an error
// says that none came, and names the extension and command.
func (m *Manager) RunCommand(ctx context.Context, name, args string) (extension string, resp extproto.CommandResponse, err error) {
	m.mu.Lock()
	list := m.dir.commands[command.Fold(name)]
	if len(list) == 0 {
		m.mu.Unlock()
		return "", resp, fmt.Errorf("%w: /%s", ErrUnknownCommand, name)
	}
	reg := list[0]
	m.mu.Unlock()
	p := reg.peer
	id := newID()
	frame, err := p.ask(ctx, ask{
		id: id, frame: extproto.CommandInvoked{ID: id, Name: reg.Name, Args: strings.TrimSpace(args)},
		answer: "command_response", timeout: p.scope.Load().callTime(m.opts.Timeouts.Command),
		what: p.entry.Name + "/" + reg.Name,
	})
	if err != nil {
		return p.entry.Name, resp, err
	}
	resp = frame.(extproto.CommandResponse)
	switch resp.Action {
	case "":
		resp.Action = extproto.ActionNoop
	case extproto.ActionToolPrompt:
		m.update(func(fx *effects) { err = p.mayCall(fx, resp.ToolName) })
	case extproto.ActionOpenPanel:
		if resp.OpenPanel != nil {
			m.update(func(fx *effects) {
				if !p.mayOpen(fx, resp.OpenPanel.ID) {
					err = errNoPanel
				}
			})
		}
	case extproto.ActionPrompt, extproto.ActionInsert, extproto.ActionDisplay, extproto.ActionNoop:
	default:
		if resp.Error == "" {
			err = fmt.Errorf("it answered with the unknown action %q", resp.Action)
		}
	}
	return p.entry.Name, resp, err
}

var errNoPanel = errors.New("it may not open this panel: its rights do not hold it")

// A TimeoutError says that an extension did not answer in time.
type TimeoutError struct {
	What  string // "extension/name"
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("timeout waiting for %s: no answer within %s", e.What, e.After)
}

// An ask is one request to an extension.
type ask struct {
	id      string
	frame   extproto.Frame
	answer  string        // frame type of the answer
	timeout time.Duration // 0 waits for ever
	// fromStart counts the deadline from now, the write included; else it
	// begins when the request is written.
	fromStart bool
	what      string // for the error
}

// ask sends a request and waits for its answer, the deadline, the extension's
// end, or ctx. A late answer is ignored.
func (p *peer) ask(ctx context.Context, a ask) (extproto.Frame, error) {
	line, err := extproto.Encode(a.frame)
	if err != nil {
		return nil, err
	}
	ch, err := p.pend.add(a.id, a.answer)
	if err != nil {
		return nil, err
	}
	defer p.pend.forget(a.id)
	out := p.outbox()
	if out == nil {
		return nil, fmt.Errorf("extension %s is not running", p.entry.Name)
	}
	late := &TimeoutError{What: a.what, After: a.timeout}
	var end int64
	if a.fromStart {
		p.pend.expire(a.id, a.timeout, late)
		limited, cancel := context.WithTimeout(ctx, a.timeout)
		defer cancel()
		end, err = out.send(limited, line)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, late
		}
	} else {
		end, err = out.send(ctx, line)
	}
	if err != nil {
		return nil, p.notSent(ctx, ch, err)
	}
	p.pend.sentAt(a.id, end)
	if !a.fromStart && a.timeout > 0 {
		p.pend.expire(a.id, a.timeout, late)
	}
	if ctx.Err() == nil {
		p.lead(ch)
	}
	select {
	case got := <-ch:
		return got.frame, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// notSent explains a request that could not be written. Where that takes the
// extension down, the reason of its end is the better one, with its last words.
func (p *peer) notSent(ctx context.Context, ch <-chan answer, err error) error {
	refused := fmt.Errorf("extension %s: %w", p.entry.Name, err)
	if errors.As(err, new(*transports.FrameTooLongError)) {
		return refused
	}
	end := time.NewTimer(2 * leaveTime)
	defer end.Stop()
	select {
	case got := <-ch:
		return cmp.Or(got.err, refused)
	case <-ctx.Done():
		return ctx.Err()
	case <-end.C:
		return refused
	}
}

// interceptors lists the ready peers that want to be asked about event, in
// rank order.
func (m *Manager) interceptors(event string) []*peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.peers), func(p *peer) bool {
		return !p.isReady() || !p.intercepts[event]
	})
}
