// Package cli is the command line of zot: it routes the words to a command,
// turns what the command returns into an exit code, and says errors at the
// door. The commands themselves are packages beside it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/usage"
)

// Main runs the program with the arguments after its name and returns its exit
// code.
func Main(args []string) int {
	if code, done := hidden(args); done {
		return code
	}
	harden()
	streams := iostreams.System()
	ctx, caught, stop := notify()
	defer stop()
	err := execute(ctx, args, streams)
	if sig := caught(); sig != nil && err != nil {
		return exit.ForSignal(sig)
	}
	return report(err, streams)
}

// execute builds the tree of commands and runs it.
func execute(ctx context.Context, args []string, streams *iostreams.Streams) error {
	withCommands := routed(args)
	if !withCommands {
		if err := stray(args); err != nil {
			return err
		}
	}
	root := newRoot(streams, withCommands)
	usage.Check(root)
	root.SetArgs(normalize(args))
	return root.ExecuteContext(ctx)
}

// notify returns a context that ends with the first SIGINT, SIGTERM or SIGHUP,
// which is its cause as a *exit.SignalError, and a function that says which came.
// A second SIGINT leaves at once.
func notify() (ctx context.Context, caught func() os.Signal, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	first := make(chan os.Signal, 1)
	go func() { // ends with the program
		for sig := range signals {
			select {
			case first <- sig:
				cancel(&exit.SignalError{Signal: sig})
			default:
				if sig == os.Interrupt {
					os.Exit(exit.ForSignal(sig))
				}
			}
		}
	}()
	return ctx, func() os.Signal {
		select {
		case sig := <-first:
			return sig
		default:
			return nil
		}
	}, func() { signal.Stop(signals); cancel(nil) }
}

// report prints an error, which may quote a stranger, and returns the exit code
// that it stands for.
func report(err error, s *iostreams.Streams) int {
	if err == nil {
		return exit.OK
	}
	var code *exit.Error
	if errors.As(err, &code) && code.Silent {
		return code.Code
	}
	fmt.Fprintf(s.Err, "%s %s\n", s.Style(s.Err, "31", "zot:"), iostreams.Printable(err.Error()))
	return exit.CodeOf(err)
}

// normalize rewrites the spellings that the flag parser does not know: -nc.
func normalize(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if a == "-nc" {
			out[i] = "--no-context-files"
		}
	}
	return out
}

// routed reports whether the first word is a command; in any other case all
// words that are no flags are a prompt.
func routed(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return true
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		if a == "--help" || a == "-h" {
			return true
		}
	}
	return slices.Contains(commandNames, args[0])
}
