package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/extensiontest"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/wasi"
)

// role makes the test binary play an extension in a process of its own.
const role = "ZOT_TEST_ROLE"

// killed is the status with which a script has itself killed.
const killed = 137

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == wasi.RunnerArg {
		os.Exit(wasi.RunnerMain(os.Args[2:]))
	}
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "script":
		code := extensiontest.Main(os.Args[1:])
		if code == killed {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			time.Sleep(time.Minute) // the kill comes first
		}
		os.Exit(code)
	case "shuffle":
		shuffle(os.Stdin, os.Stdout)
	case "count":
		count(os.Stdin, os.Stdout)
	}
}

// process is an extension in a process of its own, in one of the roles above.
func process(t testing.TB, name, as string, args ...string) extension.Entry {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return extension.Entry{
		Name: name, Dir: dir, DataDir: dir, Exec: path,
		Launch: func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
			return subprocess.Start(ctx, subprocess.Options{
				Path: path, Args: args, Dir: dir, Stderr: stderr,
				// One that measures coverage or looks for races says so, or takes a
				// second, when it ends.
				Env: append(os.Environ(), role+"="+as, "GOCOVERDIR="+dir, "GORACE=atexit_sleep_ms=0"),
			})
		},
	}
}

// scripted is a process that plays a script of extensiontest.
func scripted(t testing.TB, name, script string) extension.Entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".ext")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return process(t, name, "script", path)
}

// shuffle answers tool calls in random order, each with its own arguments.
func shuffle(in io.Reader, out io.Writer) {
	calls := make(chan extproto.ToolCall, 1000)
	go func() {
		defer close(calls)
		for lines := extproto.NewReader(in); ; {
			line, err := lines.Next()
			if err != nil {
				return
			}
			if f, err := extproto.DecodeFromHost(line); err == nil {
				if call, ok := f.(extproto.ToolCall); ok {
					calls <- call
				}
			}
		}
	}()
	fmt.Fprintln(out, `{"type":"hello","name":"shuffle"}`)
	fmt.Fprintln(out, toolEcho)
	fmt.Fprintln(out, `{"type":"ready"}`)
	var open []extproto.ToolCall
	for {
		if len(open) == 0 {
			call, ok := <-calls
			if !ok {
				return
			}
			open = append(open, call)
		}
		for more := true; more; { // what has come meanwhile
			select {
			case call, ok := <-calls:
				if more = ok; ok {
					open = append(open, call)
				}
			default:
				more = false
			}
		}
		n := rand.IntN(len(open))
		call := open[n]
		open[n] = open[len(open)-1]
		open = open[:len(open)-1]
		text, _ := json.Marshal(string(call.Args))
		fmt.Fprintf(out, `{"type":"tool_result","id":%q,"content":[{"type":"text","text":%s}]}`+"\n", call.ID, text)
	}
}

// count answers a tool call with the bytes of all events that it got so far.
func count(in io.Reader, out io.Writer) {
	fmt.Fprintln(out, `{"type":"hello","name":"count"}`)
	fmt.Fprintln(out, toolEcho)
	fmt.Fprintln(out, observesAll)
	fmt.Fprintln(out, `{"type":"ready"}`)
	total := 0
	for lines := bufio.NewReaderSize(in, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		f, err := extproto.DecodeFromHost(line)
		if err != nil {
			continue
		}
		switch f := f.(type) {
		case extproto.Event:
			total += len(f.Text)
		case extproto.ToolCall:
			fmt.Fprintf(out, `{"type":"tool_result","id":%q,"content":[{"type":"text","text":"%d"}]}`+"\n", f.ID, total)
		}
	}
}
