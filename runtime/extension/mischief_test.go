package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/wasi"
)

// misdeeds are what a guest does in a call, by what it is told. One that is
// deaf sleeps, while zot has more for it than fits into any pipe.
var misdeeds = []string{"spin", "sleep", "flood", "deaf", "recurse"}

// endings are how that ends, each with what it has to come to.
var endings = map[string]func(t *testing.T, m *mischief){
	"cancel": func(t *testing.T, m *mischief) {
		m.cancel()
		if out := m.outcome(); out.err == nil && !out.res.IsError {
			t.Errorf("the cancelled call: %+v", out.res)
		}
	},
	"timeout": func(t *testing.T, m *mischief) {
		if out := m.outcome(); out.err == nil && !out.res.IsError {
			t.Errorf("the call beyond its time: %+v", out.res)
		}
	},
	"reload": func(t *testing.T, m *mischief) {
		rep, err := m.Reload(t.Context(), "mischief")
		if err != nil || rep.Ready != 1 {
			t.Fatalf("reload: %+v, %v", rep, err)
		}
		if out := m.outcome(); out.err == nil && !out.res.IsError {
			t.Errorf("the call in flight: %+v", out.res)
		}
		res, err := m.tool("act").Run(t.Context(), tool.Call{Args: json.RawMessage(`{}`)})
		if err != nil || text(res) != "fine" {
			t.Errorf("after the reload: %q, %v", text(res), err)
		}
	},
	"stop": func(t *testing.T, m *mischief) {
		m.plan.Entries = m.plan.Entries[1:]
		if rep, err := m.Reload(t.Context(), ""); err != nil || rep.Stopped != 2 || rep.Ready != 1 {
			t.Errorf("without it: %+v, %v", rep, err)
		}
		m.outcome()
	},
	"exit": func(t *testing.T, m *mischief) {
		m.Stop(t.Context())
		m.outcome()
		m.wantState("mischief", extension.StateStopped)
		m.gone = true
	},
}

// mischief is a guest in the midst of a misdeed, with a good one beside it.
type mischief struct {
	*rig
	plan   extension.Plan
	cancel context.CancelFunc
	over   chan ran
	gone   bool // the good one, too
}

type ran struct {
	res tool.Result
	err error
}

// outcome is that of the call, which has to be over soon.
func (m *mischief) outcome() ran {
	m.t.Helper()
	select {
	case out := <-m.over:
		return out
	case <-time.After(patience):
		m.t.Fatal("the call does not end")
		return ran{}
	}
}

// TestMischief has guests in the way in every manner, and ends them in every
// manner, in both isolations. None is waited for, and the other extension
// answers all the while.
func TestMischief(t *testing.T) {
	module := mischiefModule(t)
	cache := filepath.Join(t.TempDir(), "cache")
	for _, isolation := range []wasi.Isolation{wasi.Runner, wasi.Inline} {
		for _, misdeed := range misdeeds {
			for ending, end := range endings {
				if raceEnabled && misdeed != "spin" && misdeed != "flood" {
					continue // what is left is enough to find races
				}
				if isolation == wasi.Inline && runtime.GOMAXPROCS(0) == 1 && misdeed != "sleep" {
					continue // all of zot shares one processor with the guest, and that takes minutes
				}
				t.Run(fmt.Sprintf("%s/%s/%s", isolation, misdeed, ending), func(t *testing.T) {
					opts := extension.Options{Timeouts: extension.Timeouts{Exit: 50 * time.Millisecond, Term: 50 * time.Millisecond}}
					bad := guestEntry("mischief", wasi.Options{Path: module, Cache: cache, Isolation: isolation})
					if ending == "timeout" { // its own, so that the other has time
						grant := `{"tools":["*"],"notify":true,"limits":{"wallPerCall":"500ms","framesPerSecond":100000}}`
						bad.Rights = rightsOf(t, grant, `{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":`+grant+`}]}`)
					}
					m := doMischief(t, opts, misdeed, bad)
					began := time.Now()
					end(t, m)
					quick(t, ending, began)
					m.othersAnswer()
				})
			}
		}
	}
}

// doMischief begins a misdeed and returns when it is under way.
func doMischief(t *testing.T, opts extension.Options, misdeed string, bad extension.Entry) *mischief {
	t.Helper()
	m := &mischief{over: make(chan ran, 1), plan: extension.Plan{Entries: []extension.Entry{bad, process(t, "shuffle", "shuffle")}}}
	opts.Plan = func() extension.Plan { return m.plan }
	m.rig = started(t, opts)
	ctx, cancel := context.WithCancel(t.Context())
	m.cancel = cancel
	t.Cleanup(cancel)
	told, act := misdeed, m.tool("act")
	if misdeed == "deaf" {
		told = "sleep"
	}
	go func() { // ends with the call
		res, err := act.Run(ctx, tool.Call{Args: json.RawMessage(fmt.Sprintf(`{"do":%q}`, told))})
		m.over <- ran{res, err}
	}()
	eventually(t, "the misdeed has begun", func() bool {
		return slices.ContainsFunc(emitted[event.ExtNotify](m.rig), func(n event.ExtNotify) bool { return n.Message == told })
	})
	if misdeed == "deaf" {
		big := json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
		for range 8 {
			go func() { _, _ = act.Run(ctx, tool.Call{Args: big}) }() // ends with the call above
		}
	}
	m.othersAnswer()
	return m
}

// othersAnswer has the good one answer, and the garbage collector run.
func (m *mischief) othersAnswer() {
	m.t.Helper()
	if m.gone {
		return
	}
	for n := range 5 {
		args := fmt.Sprintf(`{"n":%d}`, n)
		began := time.Now()
		res, err := m.tool("echo").Run(m.t.Context(), tool.Call{Args: json.RawMessage(args)})
		if err != nil || text(res) != args {
			m.t.Errorf("the other extension said %q, %v", text(res), err)
		}
		runtime.GC()
		quick(m.t, "an answer of the other extension", began)
	}
}

// guestEntry is an extension that is a module.
func guestEntry(name string, o wasi.Options) extension.Entry {
	o.Name, o.StartMax = name, patience
	return extension.Entry{Name: name, Dir: filepath.Dir(o.Path), DataDir: filepath.Dir(o.Path), Exec: filepath.Base(o.Path),
		Launch: func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
			o.Stderr = stderr
			conn, err := wasi.Start(ctx, o)
			if err != nil {
				return nil, err
			}
			return conn, nil
		}}
}

// mischiefModule builds the guest.
func mischiefModule(t *testing.T) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("building the guest needs the go tool")
	}
	out := filepath.Join(t.TempDir(), "mischief.wasm")
	build := exec.Command(goTool, "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./testdata/mischief")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the guest: %v\n%s", err, text)
	}
	return out
}
