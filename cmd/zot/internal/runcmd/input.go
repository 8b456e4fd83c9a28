package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/host"
)

// maxStdin bounds what is read from standard input as a prompt.
const maxStdin = 16 << 20

// readPrompt joins what came on standard input and the words of the command
// line, with a newline between them. Without either the prompt is empty.
func readPrompt(ctx context.Context, words []string, s *iostreams.Streams) (string, error) {
	text := strings.Join(words, " ")
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	if s.InTerminal {
		return text, nil
	}
	piped, err := readAll(ctx, s.In)
	if err != nil {
		return "", err
	}
	in := strings.TrimSpace(strings.TrimPrefix(string(piped), "\ufeff"))
	switch {
	case in == "":
		return text, nil
	case text == "":
		return in, nil
	}
	return in + "\n" + text, nil
}

// readAll reads a prompt to its end, or until ctx ends.
func readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // ends with the input; a read that blocks at exit dies with the process
		text, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
		read <- result{text, err}
	}()
	select {
	case r := <-read:
		if r.err != nil {
			return nil, fmt.Errorf("reading standard input: %w", r.err)
		}
		if len(r.text) > maxStdin {
			return nil, fmt.Errorf("standard input is over %d MiB; put it in a file and name the file in the prompt", maxStdin>>20)
		}
		return r.text, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runInput runs what a user typed: a skill, the command of an extension, or a
// prompt.
// inserted takes text that a command wants in an editor.
func (a *run) runInput(ctx context.Context, p host.Prompt, inserted func(string)) error {
	h := a.host
	name, args, ok := command.Parse(p.Text)
	if !ok {
		p.Text = a.withPins(p.Text)
		return h.Run(ctx, p)
	}
	if used, is := strings.CutPrefix(command.Fold(name), "skill:"); is {
		text, err := a.useSkill(used, args)
		if err != nil {
			return err
		}
		return h.Run(ctx, host.Prompt{Text: text, Images: p.Images})
	}
	h.WaitReady(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o, err := h.RunCommand(ctx, name, args)
	switch {
	case errors.Is(err, extension.ErrUnknownCommand):
		return fmt.Errorf("unknown command /%s; %s", name, known(h))
	case err != nil:
		return err
	case o.Insert != "":
		inserted(o.Insert)
	case o.Prompt != "":
		// Text from an extension is plain text for the model, whatever it
		// begins with.
		return h.Run(ctx, host.Prompt{Text: o.Prompt, Images: p.Images})
	}
	return nil
}

func known(h *host.Host) string {
	var names []string
	for _, c := range h.Commands() {
		names = append(names, "/"+c.Name)
	}
	if len(names) == 0 {
		return "no extension has registered a command"
	}
	return "extensions have: " + strings.Join(names, ", ")
}
