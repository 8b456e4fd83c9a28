package providertest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main serves a script file as a program of its own and returns its exit code.
//
//	providertest [-addr 127.0.0.1:0] [-url FILE] [-log FILE] [-stdin] SCRIPT
//
// It prints the base URL on stdout (and writes it to -url) once it listens, and
// serves until an interrupt comes or, with -stdin, until stdin ends. It then
// writes the requests to -log, says on stderr what was wrong, and returns 1 if
// anything was.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("providertest", flag.ContinueOnError)
	fs.SetOutput(stderr)
	addr := fs.String("addr", "", "`address` to listen at")
	urlFile := fs.String("url", "", "`file` to write the base URL to")
	logFile := fs.String("log", "", "`file` to write the requests to")
	untilEOF := fs.Bool("stdin", false, "serve until stdin ends")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if fs.NArg() != 1 {
		fmt.Fprintln(stderr, "providertest: give one script file")
		return 2
	}
	if !*untilEOF {
		stdin = nil
	}
	if err := serveFile(fs.Arg(0), *addr, *urlFile, *logFile, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func serveFile(file, addr, urlFile, logFile string, stdin io.Reader, stdout io.Writer) error {
	script, err := Load(file)
	if err != nil {
		return err
	}
	srv, err := Start(script, addr)
	if err != nil {
		return err
	}
	defer srv.Close()
	if urlFile != "" {
		if err := os.WriteFile(urlFile, []byte(srv.URL()), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, srv.URL())
	waitForEnd(stdin)
	srv.Close()
	if logFile != "" {
		if err := os.WriteFile(logFile, []byte(srv.Log()), 0o644); err != nil {
			return err
		}
	}
	return srv.Check()
}

// waitForEnd returns when an interrupt comes or stdin, unless nil, ends. The
// goroutine that reads ends with the process.
func waitForEnd(stdin io.Reader) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ended := make(chan struct{})
	if stdin != nil {
		go func() {
			defer close(ended)
			io.Copy(io.Discard, stdin)
		}()
	}
	select {
	case <-ctx.Done():
	case <-ended:
	}
}
