package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/host"
)

// answerExtension carries out the commands about extensions, and refuses what
// is no command.
func (s *server) answerExtension(ctx context.Context, c rpcproto.Command) {
	h := s.opts.Host
	switch c.Type {
	case rpcproto.CmdConfirm:
		data, err := s.confirm(c)
		s.reply(c, data, err)
	case rpcproto.CmdGetCommands:
		s.aside(func() { h.WaitReady(ctx); s.succeed(c, s.commands()) })
	case rpcproto.CmdRunCommand:
		s.aside(func() { h.WaitReady(ctx); s.runCommand(ctx, c) })
	case rpcproto.CmdPanelKey:
		s.panelKey(c)
	case rpcproto.CmdPanelClose:
		s.panel(c, func(ext string) { h.Extensions().PanelClosed(ext, c.PanelID) })
	case rpcproto.CmdReloadExtensions:
		s.aside(func() {
			data, err := s.reload(ctx, c.Name)
			s.reply(c, data, err)
		})
	case rpcproto.CmdGetExtensions:
		s.succeed(c, s.extensions())
	default:
		s.fail(c, errors.New(rpcproto.ErrUnknownCommand))
	}
}

// aside answers from a goroutine, so that later commands are not held up.
func (s *server) aside(f func()) { s.asides.Go(f) }

func (s *server) commands() rpcproto.CommandsData {
	data := rpcproto.CommandsData{Commands: []rpcproto.SlashCommand{}}
	for _, c := range s.opts.Host.Commands() {
		data.Commands = append(data.Commands, rpcproto.SlashCommand{
			Name: c.Name, Description: c.Description, Extension: c.Extension,
		})
	}
	return data
}

// runCommand runs an extension's command. A prompt that it asks for is put in
// line like one of the client's own, after the response.
func (s *server) runCommand(ctx context.Context, c rpcproto.Command) {
	name := strings.TrimPrefix(c.Name, "/")
	if name == "" {
		s.fail(c, errors.New("run_command: the name is missing"))
		return
	}
	o, err := s.opts.Host.RunCommand(ctx, name, c.Args)
	if err != nil {
		s.fail(c, err)
		return
	}
	s.idle.Lock()
	defer s.idle.Unlock()
	s.succeed(c, resultOf(o))
	if o.Prompt != "" {
		s.opts.Host.Submit(host.Prompt{Text: o.Prompt})
	}
}

// resultOf says what a command asked for.
func resultOf(o host.Outcome) rpcproto.CommandResultData {
	switch {
	case o.Prompt != "":
		return rpcproto.CommandResultData{Action: "prompt", Text: o.Prompt}
	case o.Insert != "":
		return rpcproto.CommandResultData{Action: "insert", Text: o.Insert}
	case o.Display != "":
		return rpcproto.CommandResultData{Action: "display", Text: o.Display}
	case o.Panel:
		return rpcproto.CommandResultData{Action: "open_panel"}
	}
	return rpcproto.CommandResultData{Action: "noop"}
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

func (s *server) panelKey(c rpcproto.Command) {
	if c.Key == "" {
		s.fail(c, errors.New("panel_key: the key is missing"))
		return
	}
	s.panel(c, func(ext string) { s.opts.Host.Extensions().PanelKey(ext, c.PanelID, c.Key, c.Text) })
}

// panel hands something to the owner of the panel the client names.
func (s *server) panel(c rpcproto.Command, f func(extension string)) {
	ext, ok := s.opts.Host.Extensions().PanelOwner(c.PanelID)
	if !ok {
		s.fail(c, fmt.Errorf("%s: no panel %q is open", c.Type, c.PanelID))
		return
	}
	s.succeed(c, nil) // stands before what the extension makes of it
	f(ext)
}
