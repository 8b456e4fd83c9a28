package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

// errBusy refuses a command that changes what a running prompt stands on.
var errBusy = errors.New("agent is busy")

// answer carries out one command and responds to it. What takes long answers
// from a goroutine of its own, which ends with ctx at the latest.
func (s *server) answer(ctx context.Context, c rpcproto.Command) {
	h := s.opts.Host
	switch c.Type {
	case rpcproto.CmdPrompt:
		s.prompt(c)
	case rpcproto.CmdAbort:
		h.Cancel()
		s.succeed(c, nil)
	case rpcproto.CmdCompact:
		s.compact(c)
	case rpcproto.CmdGetState:
		s.succeed(c, s.state())
	case rpcproto.CmdGetMessages:
		s.succeed(c, rpcproto.MessagesData{Messages: wire.Messages(h.Transcript())})
	case rpcproto.CmdClear:
		s.whenIdle(c, func() (any, error) { return nil, h.Clear() })
	case rpcproto.CmdSetModel:
		s.whenIdle(c, func() (any, error) { return s.setModel(c.Model) })
	case rpcproto.CmdSetReasoning:
		s.whenIdle(c, func() (any, error) { return nil, h.SetReasoning(c.Reasoning) })
	case rpcproto.CmdGetModels:
		s.succeed(c, rpcproto.ModelsData{Models: s.opts.Models()})
	case rpcproto.CmdPing:
		s.succeed(c, rpcproto.PongData{Pong: true})
	default:
		s.answerExtension(ctx, c)
	}
}

// answerExtension carries out the commands about extensions.
func (s *server) answerExtension(ctx context.Context, c rpcproto.Command) {
	h := s.opts.Host
	switch c.Type {
	case rpcproto.CmdConfirm:
		s.confirm(c)
	case rpcproto.CmdGetCommands:
		s.aside(c, func() (any, error) { h.WaitReady(ctx); return s.commands(), nil })
	case rpcproto.CmdRunCommand:
		s.aside(c, func() (any, error) { h.WaitReady(ctx); return s.runCommand(ctx, c) })
	case rpcproto.CmdPanelKey:
		s.panel(c, func(ext string) { h.Extensions().PanelKey(ext, c.PanelID, c.Key, c.Text) })
	case rpcproto.CmdPanelClose:
		s.panel(c, func(ext string) { h.Extensions().PanelClosed(ext, c.PanelID) })
	case rpcproto.CmdReloadExtensions:
		s.aside(c, func() (any, error) { return s.reload(ctx, c.Name) })
	case rpcproto.CmdGetExtensions:
		s.succeed(c, s.extensions())
	default:
		s.out.response(rpcproto.Fail(c, rpcproto.ErrUnknownCommand))
	}
}

// aside answers from a goroutine, so that later commands are not held up.
func (s *server) aside(c rpcproto.Command, f func() (any, error)) {
	go func() {
		data, err := f()
		if err != nil {
			s.fail(c, err)
			return
		}
		s.succeed(c, data)
	}()
}

func (s *server) whenIdle(c rpcproto.Command, f func() (any, error)) {
	if s.opts.Host.Busy() {
		s.fail(c, errBusy)
		return
	}
	data, err := f()
	if err != nil {
		s.fail(c, err)
		return
	}
	s.succeed(c, data)
}

func (s *server) prompt(c rpcproto.Command) {
	p := host.Prompt{Text: c.Message}
	for _, img := range c.Images {
		p.Images = append(p.Images, message.Image{MIMEType: img.MIMEType, Data: img.Data})
	}
	if p.Blank() {
		s.fail(c, errors.New("prompt: the message is empty"))
		return
	}
	waiting := len(s.opts.Host.Queue())
	if s.opts.Host.Busy() {
		waiting++
	}
	// The response must stand before the first event of the prompt.
	s.succeed(c, rpcproto.StartedData{Started: true, Queued: waiting})
	s.opts.Host.Submit(p)
}

func (s *server) compact(c rpcproto.Command) {
	s.succeed(c, rpcproto.StartedData{Started: true})
	s.opts.Host.SubmitCompact("")
}

func (s *server) state() rpcproto.StateData {
	h := s.opts.Host
	data := rpcproto.StateData{
		CWD: h.CWD(), MessageCount: len(h.Transcript()), Busy: h.Busy(),
		Usage: wire.UsageCount(h.Usage()), SessionID: h.SessionID(), Queued: len(h.Queue()),
	}
	if conn, err := h.Connection(); err == nil {
		data.Provider, data.Model, data.Reasoning = conn.Provider, conn.ID, conn.Reasoning
	}
	return data
}

func (s *server) setModel(id string) (any, error) {
	if id == "" {
		return nil, errors.New("set_model: the model is missing")
	}
	provider := ""
	if conn, err := s.opts.Host.Connection(); err == nil {
		provider = conn.Provider
	}
	if err := s.opts.Host.SetModel(provider, id); err != nil {
		return nil, err
	}
	return rpcproto.ModelData{Model: id}, nil
}

func (s *server) commands() rpcproto.CommandsData {
	data := rpcproto.CommandsData{Commands: []rpcproto.SlashCommand{}}
	for _, c := range s.opts.Host.Commands() {
		data.Commands = append(data.Commands, rpcproto.SlashCommand{
			Name: c.Name, Description: c.Description, Extension: c.Extension,
		})
	}
	return data
}

// runCommand runs an extension's command; a prompt that it asks for is
// submitted, so that the client sees its events.
func (s *server) runCommand(ctx context.Context, c rpcproto.Command) (any, error) {
	o, err := s.opts.Host.RunCommand(ctx, c.Name, c.Args)
	switch {
	case err != nil:
		return nil, err
	case o.Prompt != "":
		s.opts.Host.Submit(host.Prompt{Text: o.Prompt})
		return rpcproto.CommandResultData{Action: "prompt", Text: o.Prompt}, nil
	case o.Insert != "":
		return rpcproto.CommandResultData{Action: "insert", Text: o.Insert}, nil
	case o.Display != "":
		return rpcproto.CommandResultData{Action: "display", Text: o.Display}, nil
	case o.Panel:
		return rpcproto.CommandResultData{Action: "open_panel"}, nil
	}
	return rpcproto.CommandResultData{Action: "noop"}, nil
}

func (s *server) reload(ctx context.Context, name string) (any, error) {
	report, err := s.opts.Host.Reload(ctx, name)
	if errors.Is(err, extension.ErrUnknownExtension) {
		return nil, fmt.Errorf("%w: %q", err, name)
	}
	if err != nil {
		return nil, err
	}
	data := rpcproto.ReloadData{Stopped: report.Stopped, Loaded: report.Loaded, Ready: report.Ready}
	for _, f := range report.Errors {
		data.Errors = append(data.Errors, f.Name+": "+f.Err.Error())
	}
	return data, nil
}

func (s *server) extensions() rpcproto.ExtensionsData {
	data := rpcproto.ExtensionsData{Extensions: []rpcproto.Extension{}}
	for _, st := range s.opts.Host.Extensions().Status() {
		data.Extensions = append(data.Extensions, rpcproto.Extension{
			Name: st.Name, Version: st.Version, State: string(st.State), Error: st.Error,
		})
	}
	for _, f := range s.opts.Host.Extensions().Failures() {
		data.Extensions = append(data.Extensions, rpcproto.Extension{Name: f.Name, State: "error", Error: f.Err.Error()})
	}
	return data
}

// panel hands something to the owner of the panel the client names.
func (s *server) panel(c rpcproto.Command, f func(extension string)) {
	ext, ok := s.opts.Host.Extensions().PanelOwner(c.PanelID)
	if !ok {
		s.fail(c, fmt.Errorf("no panel %q is open", c.PanelID))
		return
	}
	f(ext)
	s.succeed(c, nil)
}
