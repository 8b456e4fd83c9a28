package extension_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// walled is a connection to an extension inside walls.
type walled struct {
	transports.Conn
	refused chan transports.Refusal
}

func (w *walled) Refusals() <-chan transports.Refusal { return w.refused }

// What walls keep from an extension is in its messages and its log, judged by
// the policy, and in the log of decisions once.
func TestWhatWallsRefuseIsTakenDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		e := p.entry()
		const permissions = `{"commands":["*"],"fs":{"read":["/granted"]}}`
		e.Rights = rightsOf(t, permissions, `{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":`+permissions+`}]}`)
		w := &walled{refused: make(chan transports.Refusal, 10)}
		launch := e.Launch
		e.Launch = func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
			var err error
			w.Conn, err = launch(ctx, stderr)
			return w, err
		}
		var audited []string
		r := newRig(t, extension.Options{Audit: func(name string, c policies.Capability, value string, d policies.Decision) {
			audited = append(audited, fmt.Sprintf("%s %s %s %s %v", name, c, value, d.Code, d.Allowed()))
		}}, e)
		p.load()
		w.refused <- transports.Refusal{Path: "/etc/passwd"}
		w.refused <- transports.Refusal{Path: "/granted/link"}
		w.refused <- transports.Refusal{Path: "/granted/new", Write: true}
		w.refused <- transports.Refusal{Limit: "dataDir"}
		close(w.refused)
		synctest.Wait()
		r.wantState("ext", extension.StateReady)
		p.leave <- memory.ExitError{Signal: "killed", Reason: "computed for longer than 1s", Limit: "cpuPerCall"}
		synctest.Wait()
		r.wantState("ext", extension.StateFailed)
		want := []string{
			"ext fs.read /etc/passwd ZP040 false", "ext fs.read /granted/link ZP040 false", "ext fs.write /granted/new ZP040 false",
			"ext limits dataDir ZP041 false", "ext limits cpuPerCall ZP041 false",
		}
		if diff := cmp.Diff(want, audited); diff != "" {
			t.Errorf("audited (-want +got):\n%s", diff)
		}
		messages := r.Status()[0].Messages
		if len(messages) != len(want) {
			t.Fatalf("messages: %q", messages)
		}
		wantContains(t, messages[0], `ZP040: reading "/etc/passwd" is refused`, "the grants of this layer do not hold it")
		wantContains(t, messages[1], `ZP040: reading "/granted/link" is refused`, "leads out of the folders")
		wantContains(t, messages[4], "ZP041: more of cpuPerCall is refused: computed for longer than 1s", "raise limits.cpuPerCall")
	})
}
