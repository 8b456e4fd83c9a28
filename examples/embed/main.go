// Command embed asks a model from a Go program, with zot's loop, the built-in
// tools and one of its own, and prints the answer:
//
//	OPENAI_API_KEY=… go run ./examples/embed "what time is it, and which Go files are here?"
//
// The program decides everything: no settings are read, no extension is
// started, nothing is kept.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

func main() {
	client, chosen, err := provider.New(provider.Options{Getenv: os.Getenv, BaseURL: os.Getenv("ZOT_BASE_URL"), Model: os.Getenv("ZOT_MODEL")})
	if err == nil {
		dir, _ := os.Getwd()
		tools := append(builtin.New(builtin.Options{CWD: dir}), clock{})
		var text string
		if text, err = ask(context.Background(), client, chosen.Model.ID, dir, tools, strings.Join(os.Args[1:], " ")); err == nil {
			fmt.Println(text)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "embed:", err)
	os.Exit(1)
}

// ask sends one prompt, lets the model use the tools until it is done, and
// returns what it said last.
func ask(ctx context.Context, client model.Client, id, dir string, tools []tool.Tool, prompt string) (string, error) {
	h, err := host.New(host.Options{
		CWD:   dir,
		Tools: tools,
		Connect: func(string, string) (host.Connection, error) {
			return host.Connection{Model: agent.Model{Client: client, ID: id}}, nil
		},
	})
	if err != nil {
		return "", err
	}
	defer h.Close(context.Background())
	last := ""
	h.Subscribe(func(e event.Event) {
		if answer, ok := e.(event.AssistantMessage); ok {
			last = answer.Visible
		}
	})
	h.Start()
	err = h.Run(ctx, host.Prompt{Text: prompt})
	return last, err
}
