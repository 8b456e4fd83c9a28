package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

// errBusy refuses a command that changes what a running prompt stands on.
var errBusy = errors.New("agent is busy")

// answer carries out one command and responds to it. What waits for an
// extension answers from a goroutine of its own, which ends with ctx at the
// latest.
func (s *server) answer(ctx context.Context, c rpcproto.Command) {
	h := s.opts.Host
	switch c.Type {
	case rpcproto.CmdPrompt:
		s.prompt(c)
	case rpcproto.CmdAbort:
		s.succeed(c, nil) // stands before the events of the end
		h.Cancel()
	case rpcproto.CmdCompact:
		s.submit(c, func() { h.SubmitCompact("") })
	case rpcproto.CmdGetState:
		s.succeed(c, s.state())
	case rpcproto.CmdGetMessages:
		s.succeed(c, rpcproto.MessagesData{Messages: wire.Messages(h.Transcript())})
	case rpcproto.CmdClear:
		s.whenIdle(c, func() (any, error) { return nil, h.Clear() })
	case rpcproto.CmdSetModel:
		s.whenIdle(c, func() (any, error) { return s.setModel(c.Model) })
	case rpcproto.CmdSetReasoning:
		s.whenIdle(c, func() (any, error) { return nil, s.setReasoning(c.Reasoning) })
	case rpcproto.CmdGetModels:
		s.succeed(c, rpcproto.ModelsData{Models: s.models()})
	case rpcproto.CmdPing:
		s.succeed(c, rpcproto.PongData{Pong: true})
	default:
		s.answerExtension(ctx, c)
	}
}

// whenIdle carries out what must not happen beside a prompt.
func (s *server) whenIdle(c rpcproto.Command, f func() (any, error)) {
	s.idle.Lock()
	defer s.idle.Unlock()
	if s.opts.Host.Busy() {
		s.fail(c, errBusy)
		return
	}
	data, err := f()
	s.reply(c, data, err)
}

func (s *server) prompt(c rpcproto.Command) {
	p, err := promptOf(c)
	if err != nil {
		s.fail(c, err)
		return
	}
	s.submit(c, func() { s.opts.Host.Submit(p) })
}

// promptOf reads what a prompt command sends.
func promptOf(c rpcproto.Command) (host.Prompt, error) {
	p := host.Prompt{Text: c.Message}
	for i, img := range c.Images {
		if !strings.HasPrefix(img.MIMEType, "image/") || len(img.Data) == 0 {
			return p, fmt.Errorf("prompt: image %d needs a mime_type like image/png, and data in base64", i+1)
		}
		p.Images = append(p.Images, message.Image{MIMEType: img.MIMEType, Data: img.Data})
	}
	if p.Blank() {
		return p, errors.New("prompt: the message is empty")
	}
	return p, nil
}

// submit puts work in line. The response says how much is before it, and
// stands before the first event of it.
func (s *server) submit(c rpcproto.Command, enqueue func()) {
	s.idle.Lock()
	defer s.idle.Unlock()
	s.succeed(c, rpcproto.StartedData{Started: true, Queued: s.opts.Host.Ahead()})
	enqueue()
}

func (s *server) state() rpcproto.StateData {
	h := s.opts.Host
	ahead := h.Ahead() // the one that runs, and those that wait
	data := rpcproto.StateData{
		CWD: h.CWD(), MessageCount: len(h.Transcript()), Busy: ahead > 0,
		Usage: wire.UsageCount(h.Usage()), SessionID: h.SessionID(), Queued: max(ahead-1, 0),
	}
	data.Provider, data.Model, data.Reasoning = s.model()
	return data
}

func (s *server) models() []rpcproto.Model {
	if s.opts.Models == nil {
		return []rpcproto.Model{}
	}
	return s.opts.Models()
}

// setModel takes another model of the same provider. How hard it thinks stays
// as it was set.
func (s *server) setModel(id string) (any, error) {
	if id == "" {
		return nil, errors.New("set_model: the model is missing")
	}
	h := s.opts.Host
	provider, _, reasoning := s.model()
	if err := h.SetModel(provider, id); err != nil {
		return nil, err
	}
	conn, err := h.Connection()
	if err != nil {
		return nil, err
	}
	if reasoning != "" && conn.Reasoning != reasoning {
		err = h.SetReasoning(reasoning)
	}
	return rpcproto.ModelData{Model: conn.ID}, err
}

// levels are the words of set_reasoning, with the spellings that mean the same.
var levels = map[string]string{
	"off": "off", "minimal": "minimal", "minimum": "minimal", "low": "low", "medium": "medium",
	"high": "high", "xhigh": "xhigh", "max": "max", "maximum": "max",
}

func (s *server) setReasoning(word string) error {
	level, ok := levels[strings.ToLower(word)]
	if !ok {
		return fmt.Errorf("set_reasoning: unknown level %q; use off, minimal, low, medium, high, xhigh or max", word)
	}
	return s.opts.Host.SetReasoning(level)
}
