// Command chat talks with zot: each argument is one prompt of the same
// conversation. Ctrl-C stops the prompt that runs.
package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

func main() {
	if err := chat(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func chat(prompts []string) error {
	program := os.Getenv("ZOT")
	if program == "" {
		program = "zot"
	}
	token := rand.Text()
	zot := exec.Command(program, "rpc")
	zot.Env = append(os.Environ(), rpcproto.TokenVariable+"="+token)
	zot.Stderr = os.Stderr
	in, err := zot.StdinPipe()
	if err != nil {
		return err
	}
	out, err := zot.StdoutPipe()
	if err != nil {
		return err
	}
	if err := zot.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	send(in, rpcproto.Command{Type: rpcproto.CmdHello, Token: token})
	stopOnInterrupt(in)
	for _, text := range prompts {
		send(in, rpcproto.Command{Type: rpcproto.CmdPrompt, Message: text})
		if err = follow(lines); err != nil {
			break
		}
	}
	in.Close() // zot leaves
	return errors.Join(err, zot.Wait())
}

func send(in io.Writer, c rpcproto.Command) {
	line, err := rpcproto.EncodeCommand(c)
	if err == nil {
		in.Write(append(line, '\n')) // where zot is gone, reading says so
	}
}

func stopOnInterrupt(in io.Writer) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for range interrupts {
			send(in, rpcproto.Command{Type: rpcproto.CmdAbort})
		}
	}()
}

// follow shows a prompt's events until it is done.
func follow(lines *bufio.Reader) error {
	var failed error
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("zot is gone: %w", err)
		}
		response, event, _ := rpcproto.DecodeLine(line) // what is not known is skipped
		if response != nil && !response.Success {
			return errors.New(response.Error)
		}
		switch e := event.(type) {
		case rpcproto.TextDelta:
			fmt.Print(e.Delta)
		case rpcproto.Error:
			failed = errors.New(e.Message)
		case rpcproto.Done:
			fmt.Println()
			return failed
		}
	}
}
