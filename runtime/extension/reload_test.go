package extension_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/transports"
)

// reload begins a reload.
func (r *rig) reload(ctx context.Context, name string) *waiter[extension.Report] {
	return begin(r.t, func() (extension.Report, error) { return r.Reload(ctx, name) })
}

// A reload of all ends every extension and starts what the plan says then; a
// call in flight fails cleanly.
func TestReloadAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		old, stays, fresh := newPuppet(t, "old"), newPuppet(t, "stays"), newPuppet(t, "fresh")
		plan := extension.Plan{Entries: []extension.Entry{old.entry(), stays.entry()}}
		r := newRig(t, extension.Options{Plan: func() extension.Plan { return plan }})
		old.load(toolEcho)
		stays.load(commandGo)
		call := r.call(t.Context(), "echo")
		old.hears("tool_call")
		plan = extension.Plan{
			Entries:  []extension.Entry{fresh.entry(), stays.entry(), {Name: "looks"}},
			Failures: []extension.Failure{{Name: "broken", Err: errors.New("no exec")}},
		}
		r.forget()
		w := r.reload(t.Context(), "")
		for _, p := range []*puppet{old, stays} {
			p.hears("shutdown")
			p.dies(0, "")
		}
		res, err := call.result()
		if err != nil || !res.IsError {
			t.Errorf("the call in flight: %+v, %v", res, err)
		}
		wantContains(t, text(res), "extension old/echo failed: extension old disconnected")
		stays.load(commandGo)
		fresh.begin()
		if !w.waits() {
			t.Error("the reload is over before all are ready")
		}
		fresh.greet()
		fresh.say(toolEcho, `{"type":"ready"}`)
		got, err := w.result()
		if err != nil || got.Stopped != 2 || got.Loaded != 3 || got.Ready != 3 || len(got.Errors) != 1 || got.Errors[0].Name != "broken" {
			t.Errorf("%+v, %v", got, err)
		}
		if r.toolNames() != "fresh/echo" || r.commandNames() != "stays/go" {
			t.Errorf("tools %q, commands %q", r.toolNames(), r.commandNames())
		}
		if diff := cmp.Diff([]event.ExtReloaded{{Stopped: 2, Loaded: 3, Ready: 3, Failed: 1}}, emitted[event.ExtReloaded](r)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if failed := emitted[event.ExtFailed](r); len(failed) != 1 || failed[0].Extension != "broken" {
			t.Errorf("failures %+v, want that of broken; a stop is none", failed)
		}
	})
}

// A reload of one leaves the others alone and gives it its rank back.
func TestReloadOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPuppet(t, "Alpha"), newPuppet(t, "beta")
		r := rigOf(t, extension.Options{}, a, b)
		a.load(toolEcho)
		b.load(toolEcho)
		w := r.reload(t.Context(), "alpha")
		a.hears("shutdown")
		a.dies(0, "")
		synctest.Wait()
		if r.toolNames() != "beta/echo" {
			t.Errorf("tools %q, want beta's meanwhile", r.toolNames())
		}
		a.load(toolEcho)
		got, err := w.result()
		if err != nil || got.Stopped != 1 || got.Ready != 1 || r.toolNames() != "Alpha/echo" {
			t.Errorf("%+v, %v, tools %q", got, err, r.toolNames())
		}
		b.hearsNothing()
		if _, err := r.Reload(t.Context(), "gamma"); !errors.Is(err, extension.ErrUnknownExtension) {
			t.Errorf("reload of gamma: %v", err)
		}
		// The dead come back only so.
		a.dies(3, "")
		r.wantState("Alpha", extension.StateFailed)
		w = r.reload(t.Context(), "Alpha")
		a.load(toolEcho)
		if got, err := w.result(); err != nil || got.Ready != 1 || len(got.Errors) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		r.wantState("Alpha", extension.StateReady)
	})
}

// What fails at a reload is in the report, and the next good one forgets it.
func TestReloadThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		var broken error
		entry := p.entry()
		launch := entry.Launch
		entry.Launch = func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
			if broken != nil {
				return nil, broken
			}
			return launch(ctx, stderr)
		}
		r := newRig(t, extension.Options{}, entry)
		p.load(toolEcho)
		broken = errors.New("syntax error")
		w := r.reload(t.Context(), "")
		p.dies(0, "")
		got, err := w.result()
		if err != nil || got.Loaded != 0 || len(got.Errors) != 1 || !strings.HasPrefix(got.Errors[0].Err.Error(), "./ext: syntax error\nlog: ") {
			t.Errorf("%+v, %v", got, err)
		}
		broken = nil
		w = r.reload(t.Context(), "")
		p.load(toolEcho)
		if got, err := w.result(); err != nil || got.Ready != 1 || len(got.Errors) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Stop climbs: shutdown, closed input, two seconds, a request to leave, one
// more second, the kill. One that hangs does not keep the others.
func TestStop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		quick, hangs := newPuppet(t, "quick"), newPuppet(t, "hangs")
		r := newRig(t, extension.Options{}, quick.entry(), hangs.entry())
		quick.load(toolEcho)
		hangs.load(commandGo)
		start := time.Now()
		w := begin(t, func() (struct{}, error) { r.Stop(context.Background()); return struct{}{}, nil })
		quick.hears("shutdown")
		hangs.hears("shutdown")
		quick.dies(0, "")
		r.wantState("quick", extension.StateStopped)
		if !w.waits() {
			t.Fatal("it did not wait for the other")
		}
		time.Sleep(2 * time.Second) // the puppet leaves when it is asked to
		w.result()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
		r.wantState("hangs", extension.StateStopped)
		if len(emitted[event.ExtFailed](r)) > 0 {
			t.Error("a stop was reported as a failure")
		}
		if r.toolNames() != "" || r.commandNames() != "" {
			t.Errorf("tools %q, commands %q", r.toolNames(), r.commandNames())
		}
		// Nothing starts any more.
		r.Start()
		if _, err := r.Reload(t.Context(), ""); !errors.Is(err, extension.ErrStopped) {
			t.Errorf("reload: %v", err)
		}
		select {
		case <-quick.started:
			t.Error("it was started again")
		default:
		}
	})
}

// A reload that waits for a slow extension does not hold up the end.
func TestStopDuringReload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "slow")
		r := rigOf(t, extension.Options{}, p)
		p.load()
		w := r.reload(t.Context(), "")
		p.dies(0, "")
		p.begin() // and never says hello
		start := time.Now()
		r.Stop(t.Context())
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
		if got, err := w.result(); err != nil || got.Ready != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// An end that has to be quick is.
func TestStopAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "hangs")
		r := rigOf(t, extension.Options{}, p)
		p.beginDeaf()
		p.say(`{"type":"hello","name":"hangs"}`, `{"type":"ready"}`)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		r.Stop(ctx)
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %s", took)
		}
	})
}

// Bundles of themes and skills run nothing and have no log; failures of the
// plan are told.
func TestBundlesAndFailures(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, extension.Options{Plan: func() extension.Plan {
			return extension.Plan{
				Entries:  []extension.Entry{{Name: "looks", Dir: "/looks"}},
				Failures: []extension.Failure{{Name: "broken", Err: errors.New("extension.json:3:1: no exec")}},
			}
		}})
		r.WaitReady(t.Context())
		s := r.status("looks")
		if s.State != extension.StateBundle || s.LogPath != "" {
			t.Errorf("%+v", s)
		}
		failed := emitted[event.ExtFailed](r)
		if len(failed) != 1 || failed[0].Extension != "broken" || !strings.Contains(failed[0].Message, "no exec") {
			t.Errorf("failures %+v", failed)
		}
		if got := r.Failures(); len(got) != 1 || got[0].Name != "broken" {
			t.Errorf("%+v", got)
		}
	})
}
