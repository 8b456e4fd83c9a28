package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
)

// peerEnv makes the test binary play an extension.
const peerEnv = "ZOT_BENCH_PEER"

func TestMain(m *testing.M) {
	switch name := os.Getenv(peerEnv); {
	case strings.HasPrefix(name, "sdk"):
		playSDK(name)
		return
	case name != "":
		playPeer(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// playPeer speaks just enough of the protocol, with nothing between it and the
// pipes, so that both sides of a comparison pay the same for it.
func playPeer(in io.Reader, out io.Writer) {
	name := os.Getenv(peerEnv)
	fmt.Fprintf(out, `{"type":"hello","name":%q,"version":"1","capabilities":["tools"]}`+"\n", name)
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var f struct {
			Type, ID string
			Event    string
		}
		if json.Unmarshal(line, &f) != nil {
			return
		}
		switch f.Type {
		case "hello_ack":
			fmt.Fprintf(out, `{"type":"register_tool","name":"echo_%s","schema":{"type":"object"}}`+"\n", name)
			io.WriteString(out, `{"type":"subscribe","intercept":["tool_call"]}`+"\n"+`{"type":"ready"}`+"\n")
		case "tool_call":
			fmt.Fprintf(out, `{"type":"tool_result","id":%q,"content":[{"type":"text","text":"pong"}]}`+"\n", f.ID)
		case "event_intercept":
			fmt.Fprintf(out, `{"type":"event_intercept_response","id":%q}`+"\n", f.ID)
		case "shutdown":
			return
		}
	}
}

// playSDK is the same as authors write it.
func playSDK(name string) {
	e := ext.New(name, "1")
	e.Tool("echo_"+name, "", json.RawMessage(`{"type":"object"}`), func(json.RawMessage) ext.ToolResult { return ext.TextResult("pong") })
	_ = e.Run()
}

func peerEnviron(name string) []string { return append(os.Environ(), peerEnv+"="+name) }

func self(b testing.TB) string {
	b.Helper()
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// entries are n extensions that are this test binary, in a role.
func entries(b testing.TB, role string, n int) []extension.Entry {
	path, dir := self(b), b.TempDir()
	var all []extension.Entry
	for i := range n {
		name := fmt.Sprint(role, i)
		all = append(all, extension.Entry{
			Name: name, Dir: dir, DataDir: dir, Exec: path,
			Launch: func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
				return subprocess.Start(ctx, subprocess.Options{
					Path: path, Dir: dir, Env: peerEnviron(name), Stderr: stderr,
				})
			},
		})
	}
	return all
}

// startManager starts n extensions and waits until all are ready.
func startManager(b testing.TB, n int) *extension.Manager {
	b.Helper()
	return startAll(b, entries(b, "peer", n))
}

func startAll(b testing.TB, all []extension.Entry) *extension.Manager {
	b.Helper()
	m := extension.New(extension.Options{Plan: func() extension.Plan { return extension.Plan{Entries: all} }})
	m.Start()
	if late := m.WaitReady(b.Context()); len(late) > 0 {
		b.Fatalf("not ready: %v", late)
	}
	for _, s := range m.Status() {
		if s.State != extension.StateReady {
			b.Fatalf("%s is %s: %s", s.Name, s.State, s.Error)
		}
	}
	return m
}

// A bare is the same program with nothing but two pipes and JSON in between.
type bare struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startBare(b testing.TB, name string) *bare {
	b.Helper()
	p := &bare{cmd: exec.Command(self(b))}
	p.cmd.Env = peerEnviron(name)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return p
}

func (p *bare) readLine(b testing.TB) []byte {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		b.Fatal(err)
	}
	return line
}

func (p *bare) greet(b testing.TB) {
	p.readLine(b)
	io.WriteString(p.in, `{"type":"hello_ack"}`+"\n")
	for range 3 {
		p.readLine(b)
	}
}

// roundTrip sends a call and decodes the answer.
func (p *bare) roundTrip(b testing.TB, id int) {
	line, err := json.Marshal(map[string]any{"type": "tool_call", "id": fmt.Sprint(id), "name": "echo", "args": map[string]any{}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		b.Fatal(err)
	}
	var answer struct {
		Type, ID string
		Content  []struct{ Type, Text string }
	}
	if err := json.Unmarshal(p.readLine(b), &answer); err != nil || answer.ID != fmt.Sprint(id) {
		b.Fatalf("answer %+v, error %v", answer, err)
	}
}

func (p *bare) stop() {
	p.in.Close()
	p.cmd.Wait()
}

// quantile returns the q-th part of sorted durations.
func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

// report writes both medians and tails and their ratio.
func report(b *testing.B, ours, theirs []time.Duration) {
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	o50, t50, o99, t99 := quantile(ours, .5), quantile(theirs, .5), quantile(ours, .99), quantile(theirs, .99)
	b.ReportMetric(us(o50), "zot-p50-µs")
	b.ReportMetric(us(t50), "bare-p50-µs")
	b.ReportMetric(float64(o50)/float64(t50), "p50-ratio")
	b.ReportMetric(us(o99), "zot-p99-µs")
	b.ReportMetric(us(t99), "bare-p99-µs")
	b.ReportMetric(float64(o99)/float64(t99), "p99-ratio")
	b.ReportMetric(0, "ns/op")
}
