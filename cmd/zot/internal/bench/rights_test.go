package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// teamRights is the policy for an extension as a team writes it: three layers,
// a handful of rules each, some of them about this extension.
func teamRights(b testing.TB) *policies.Bound {
	b.Helper()
	const permissions = `{"commands":["*"],"tools":["echo_*"],"intercept":{"tool_call":{"may":["block","rewrite"]}},
		"events":{"*":"full"},"notify":true,"callTool":["read","grep"]}`
	layers := map[policies.Layer]string{
		policies.Managed: `{"rules":[{"id":"no-shell","decision":"deny","match":{"requests":["exec.shell"]}},
			{"decision":"deny","match":{"name":"bad-*"}},{"decision":"deny","match":{"requests":["callTool:bash"]}}]}`,
		policies.User: `{"rules":[{"decision":"allow","match":{"name":"peer*"},"grant":` + permissions + `},
			{"decision":"deny","match":{"requests":["net.connect:*:22"]}}]}`,
		policies.Project: `{"rules":[{"decision":"allow","match":{"name":["peer0","peer1"]},"grant":` + permissions + `},
			{"decision":"deny","match":{"name":"peer*","requests":["tools:write*"]}}]}`,
	}
	var sections []policies.Section
	for layer, text := range layers {
		f, err := document.Parse(layer.String(), []byte(text))
		if err != nil {
			b.Fatal(err)
		}
		sections = append(sections, policies.Section{Layer: layer, File: layer.String(), Text: f.Data, Node: f.Root})
	}
	set := policies.Load(sections)
	for _, p := range set.Problems {
		b.Fatal(p)
	}
	asked, err := policies.ParsePermissions(json.RawMessage(permissions))
	if err != nil {
		b.Fatal(err)
	}
	return set.Bind(policies.Subject{Name: "peer0", Scope: policies.ScopeUser, Transport: "subprocess", Requests: asked})
}

// BenchmarkDecision is what one question of the protocol costs.
func BenchmarkDecision(b *testing.B) {
	rights := teamRights(b)
	for _, c := range []struct {
		capability policies.Capability
		value      string
		want       policies.Verdict
	}{
		{policies.Tools, "echo_peer0", policies.Allow},
		{policies.Tools, "write_all", policies.Deny},
		{policies.CallTool, "grep", policies.Allow},
		{policies.Events, "tool_call=full", policies.Allow},
		{policies.Intercepts, "tool_call=rewrite", policies.Allow},
		{policies.Notify, "", policies.Allow},
	} {
		b.Run(string(c.capability)+" "+c.want.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := rights.Use(c.capability, c.value); d.Verdict != c.want {
					b.Fatalf("%+v", d)
				}
			}
		})
	}
}

// A decision costs no memory.
func TestDecisionAllocatesNothing(t *testing.T) {
	rights := teamRights(t)
	if n := testing.AllocsPerRun(100, func() {
		rights.Use(policies.Tools, "echo_peer0")
		rights.Use(policies.Intercepts, "tool_call=block")
		rights.Event("tool_call")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRights compares a tool call and a question to an interceptor with
// rights in force with the same without: one extension, whose rights change
// every hundred times.
func BenchmarkRights(b *testing.B) {
	rights := teamRights(b)
	m := startManager(b, 1)
	defer m.Stop(b.Context())
	echo := m.Tools()[0]
	q := extension.ToolQuestion{ToolID: "t", ToolName: "bash", Args: json.RawMessage(`{"command":"ls"}`)}
	for name, do := range map[string]func(){
		"call": func() {
			if r, err := echo.Run(b.Context(), tool.Call{ID: "x", Args: json.RawMessage(`{}`)}); err != nil || r.IsError {
				b.Fatalf("%+v, %v", r, err)
			}
		},
		"intercept": func() {
			if v, err := m.InterceptToolCall(b.Context(), q); err != nil || v.Blocked {
				b.Fatalf("%+v, %v", v, err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var with, plain []time.Duration
				for range rounds / 100 {
					with = append(with, hundred(b, m, rights, do)...)
					plain = append(plain, hundred(b, m, nil, do)...)
				}
				w50, p50 := quantile(with, .5), quantile(plain, .5)
				b.ReportMetric(float64(w50.Nanoseconds())/1e3, "rights-p50-µs")
				b.ReportMetric(float64(p50.Nanoseconds())/1e3, "free-p50-µs")
				b.ReportMetric(float64(w50)/float64(p50), "p50-ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// hundred times something a hundred times under some rights.
func hundred(b *testing.B, m *extension.Manager, rights *policies.Bound, do func()) (took []time.Duration) {
	if err := m.Narrow("peer0", rights); err != nil {
		b.Fatal(err)
	}
	for range 100 {
		start := time.Now()
		do()
		took = append(took, time.Since(start))
	}
	return took
}
