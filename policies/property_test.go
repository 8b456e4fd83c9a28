package policies_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/policies"
)

// A dice throws layers, extensions and questions.
type dice struct{ *rand.Rand }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) some(n int) bool { return d.IntN(n) == 0 }

var (
	diceNames   = []string{"todo", "guard", "Todo", "x"}
	diceSources = []string{"https://example.org/team/todo", "https://example.org/team/**", "https://example.org/*/todo", "git@example.org:team/todo.git"}
)

func (d dice) list(items ...string) string {
	n := 1 + d.IntN(2)
	var out []string
	for range n {
		out = append(out, `"`+pick(d, items...)+`"`)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (d dice) selectors() string {
	return d.list("net.connect:*", "net.connect:*.example.org:443", "net.connect:api.example.org:443", "tools:*", "tools:todo_*", "tools:todo_add",
		"fs.read:${project}", "fs.read:${project}/secret", "fs.write:*", "events:*", "events:tool_call", "events:tool_call=full",
		"intercept:tool_call=block", "submit:auto", "exec.shell", "panels", "env.secrets:*", "commands:todo")
}

func (d dice) grant() string {
	parts := []string{}
	add := func(name, value string) {
		if d.some(2) {
			parts = append(parts, `"`+name+`":`+value)
		}
	}
	add("tools", d.list("*", "todo_*", "todo_add", "other"))
	add("commands", d.list("*", "todo", "TODO*"))
	add("events", `{"`+pick(d, "*", "tool_call", "turn_start")+`":"`+pick(d, "none", "redacted", "full")+`"}`)
	add("intercept", `{"`+pick(d, "*", "tool_call")+`":{"may":`+d.list("block", "rewrite")+`}}`)
	add("submit", `"`+pick(d, "none", "ask", "auto")+`"`)
	add("systemPrompt", `"`+pick(d, "none", "read", "replace")+`"`)
	add("panels", pick(d, "true", "false"))
	add("fs", `{"read":`+d.list("${project}", "${project}/src", "/etc")+`,"write":`+d.list("${data}", "${project}/src")+`,"deny":`+d.list("${project}/src/gen", "/etc/x")+`}`)
	add("net", `{"connect":`+d.list("api.example.org:443", "*.example.org:443", "*:*", "localhost:80")+`}`)
	add("env", `{"pass":`+d.list("HOME", "LANG")+`,"secrets":`+d.list("KEY")+`}`)
	add("exec", `{"run":`+d.list("git", "g*")+`,"shell":`+pick(d, "true", "false")+`}`)
	add("limits", `{"memory":"`+pick(d, "1MiB", "64MiB")+`"}`)
	return "{" + strings.Join(parts, ",") + "}"
}

func (d dice) match(depth int) string {
	parts := []string{}
	add := func(odds int, name, value string) {
		if d.some(odds) {
			parts = append(parts, `"`+name+`":`+value)
		}
	}
	add(2, "name", d.list("todo", "guard", "t*", "*"))
	add(5, "scope", d.list("user", "project", "flag"))
	add(5, "source", d.list(diceSources...))
	add(5, "version", `"`+pick(d, "<2", ">=1.2", "^1.0.0-0")+`"`)
	add(5, "digest", `"`+digest+`"`)
	add(5, "transport", d.list("wasi", "subprocess"))
	add(2, "requests", d.selectors())
	if depth == 0 {
		if e := d.match(1); e != "{}" {
			add(3, "except", e)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// policy is the JSON of a random policy; narrowing layers have no more than
// that to say.
func (d dice) policy(owner bool) string {
	parts := []string{}
	add := func(odds int, name, value string) {
		if d.some(odds) {
			parts = append(parts, `"`+name+`":`+value)
		}
	}
	add(3, "mode", `"`+pick(d, "open", "pinned", "locked")+`"`)
	add(3, "unlisted", `"`+pick(d, "deny", "ask", "inherit")+`"`)
	add(6, "enforce", `"`+pick(d, "mode", "ask", "require")+`"`)
	add(6, "audit", `"`+pick(d, "on", "required")+`"`)
	add(6, "skillTools", `"`+pick(d, "any", "ask", "listed")+`"`)
	if owner {
		add(5, "require", `["`+pick(d, "todo", "guard")+`"]`)
		add(8, "trust", `{"project":"`+pick(d, "ask", "never")+`"}`)
	}
	var rules []string
	for range d.IntN(4) {
		decision := pick(d, "deny", "ask", "allow", "allow")
		rule := `{"decision":"` + decision + `","match":` + d.match(0)
		if decision != "deny" && d.some(2) {
			rule += `,"grant":` + d.grant()
		}
		rules = append(rules, rule+"}")
	}
	parts = append(parts, `"rules":[`+strings.Join(rules, ",")+"]")
	return "{" + strings.Join(parts, ",") + "}"
}

func (d dice) subject(t testing.TB) policies.Subject {
	s := policies.Subject{
		Name: pick(d, diceNames...), Version: pick(d, "", "1.2.0", "2.0.0", "1.0.0-beta", "new"),
		Source: pick(d, "", "https://example.org/team/todo", "git@example.org:team/todo"), Digest: pick(d, "", digest),
		Transport: pick(d, "wasi", "subprocess"), Scope: pick(d, policies.ScopeUser, policies.ScopeProject, policies.ScopeFlag),
		Untrusted: d.some(3), Launcher: pick(d, "", "", "npx"),
	}
	if d.some(2) {
		s.Requests = perms(t, d.grant())
	}
	if d.some(2) {
		s.Approval = perms(t, pick(d, `"all"`, d.grant()))
	}
	if d.some(2) {
		s.Lock = policies.LockFacts{Kept: true, Entry: d.some(2), ContentDrift: d.some(4), SourceDrift: d.some(6), Permissions: perms(t, pick(d, `"all"`, d.grant()))}
	}
	return s
}

type question struct {
	c policies.Capability
	v string
}

func (d dice) question() question {
	return pick(d,
		question{policies.Tools, "todo_add"}, question{policies.Tools, "other"}, question{policies.Commands, "todo"},
		question{policies.NetConnect, "api.example.org:443"}, question{policies.NetConnect, "localhost:80"}, question{policies.NetConnect, "evil.test:443"},
		question{policies.FSRead, "${project}/src/a"}, question{policies.FSRead, "${project}/secret"}, question{policies.FSWrite, "${project}/src/gen/x"},
		question{policies.Events, "tool_call=full"}, question{policies.Events, "turn_start=redacted"}, question{policies.Intercepts, "tool_call=block"},
		question{policies.Submit, "auto"}, question{policies.Submit, "ask"}, question{policies.SystemPrompt, "replace"}, question{policies.Panels, ""},
		question{policies.EnvSecrets, "KEY"}, question{policies.ExecRun, "git"}, question{policies.ExecShell, ""})
}

// A case of the property test: sections and what is asked.
type throw struct {
	sections []policies.Section
	subject  policies.Subject
	question question
}

func (d dice) throw(t testing.TB) throw {
	var th throw
	for l := policies.Managed; l <= policies.Flags; l++ {
		if d.some(2) {
			th.sections = append(th.sections, section(t, l, d.policy(l == policies.Managed || l == policies.User)))
		}
	}
	th.subject, th.question = d.subject(t), d.question()
	return th
}

// answer is all that a set says to the throw's questions.
type answer struct {
	load, use policies.Verdict
	mode      policies.Mode
	enforce   policies.Enforce
	audit     policies.Audit
	required  int
}

func (th throw) answer(sections []policies.Section) (answer, *policies.Set, *policies.Bound) {
	set := policies.Load(sections)
	b := set.Bind(th.subject)
	m, _ := set.Mode()
	kept, _ := set.Audit()
	return answer{b.Load().Verdict, b.Use(th.question.c, th.question.v).Verdict, m, set.Enforce(), kept, len(set.Requirements())}, set, b
}

func TestProperties(t *testing.T) {
	n := 100_000
	if testing.Short() || raceDetector {
		n = 5_000
	}
	const parts = 4
	for part := range uint64(parts) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			checkProperties(t, dice{rand.New(rand.NewPCG(20261202, part))}, n/parts)
		})
	}
}

func checkProperties(t *testing.T, d dice, n int) {
	counts := map[string]int{}
	for i := range n {
		th := d.throw(t)
		got, set, b := th.answer(th.sections)
		if !set.Valid() {
			t.Fatalf("throw %d: the policy is not valid: %v", i, set.Problems)
		}
		counts[got.load.String()+" "+got.use.String()]++
		fail := func(what string) {
			t.Helper()
			t.Fatalf("throw %d: %s\nsubject %+v\nquestion %v\n%s", i, what, th.subject, th.question, texts(th.sections))
		}

		// The order of layers does not matter.
		shuffled := slices.Clone(th.sections)
		d.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if a, _, _ := th.answer(shuffled); a != got {
			fail(fmt.Sprintf("order matters: %+v, then %+v", got, a))
		}
		// Saying something twice changes nothing (a requirement counts twice).
		if len(th.sections) > 0 {
			twice := append(slices.Clone(th.sections), pick(d, th.sections...))
			a, _, _ := th.answer(twice)
			a.required = got.required
			if a != got {
				fail(fmt.Sprintf("a layer said twice: %+v, then %+v", got, a))
			}
		}
		// A layer that only narrows never raises an answer, removes no
		// obligation, and leaves what is required alone.
		l := pick(d, policies.Project, policies.Local, policies.Env, policies.Flags)
		narrowed := append(slices.Clone(th.sections), section(t, l, d.policy(false)))
		a, _, _ := th.answer(narrowed)
		if a.load > got.load || a.use > got.use || a.mode < got.mode || a.enforce < got.enforce || a.audit < got.audit || a.required != got.required {
			fail(fmt.Sprintf("%s raised %+v to %+v by %s", l, got, a, narrowed[len(narrowed)-1].Text))
		}
		if b.Required() && a.mode == got.mode && a.enforce == got.enforce && (a.load != got.load || a.use != got.use) {
			fail(fmt.Sprintf("%s touched a required extension: %+v, then %+v", l, got, a))
		}
		// Without anybody to ask, nothing is asked, and nothing is allowed that
		// was not before.
		set.Headless = true
		if h := set.Bind(th.subject); h.Load().Verdict == policies.Ask || h.Use(th.question.c, th.question.v).Verdict == policies.Ask ||
			(h.Load().Allowed() && got.load != policies.Allow) {
			fail("headless")
		}
		// What is granted as a list holds one by one.
		checkGranted(t, b, th.question, fail)
	}
	for _, want := range []string{"allow allow", "allow deny", "deny deny", "ask ask"} {
		if counts[want] < n/1000 {
			t.Errorf("the dice are loaded: %v", counts)
		}
	}
}

func texts(sections []policies.Section) string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "%s: %s\n", s.Layer, s.Text)
	}
	return b.String()
}

func checkGranted(t *testing.T, b *policies.Bound, q question, fail func(string)) {
	t.Helper()
	g := b.Granted()
	if g.Covers(q.c, q.v) && !b.Use(q.c, q.v).Allowed() {
		raw, _ := g.MarshalJSON()
		fail(fmt.Sprintf("granted %s holds %v, which is refused: %+v", raw, q, b.Use(q.c, q.v)))
	}
}

// A closed layer closes, whatever the others say.
func TestAnUnreadableOwnerClosesAll(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(7, 7))}
	for range 2000 {
		th := d.throw(t)
		broken := section(t, pick(d, policies.Managed, policies.User), `{"rules": {}}`)
		a, _, _ := th.answer(append(th.sections, broken))
		if a.load != policies.Deny || a.use != policies.Deny {
			t.Fatalf("got %+v with\n%s", a, texts(th.sections))
		}
	}
}

// The meet of two grants holds nothing that one of them does not.
func TestMeetIsSound(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(3, 4))}
	for range 20_000 {
		a, b, c := perms(t, d.grant()), perms(t, d.grant()), perms(t, d.grant())
		m := policies.Meet(a, b)
		q := d.question()
		if m.Covers(q.c, q.v) && (!a.Covers(q.c, q.v) || !b.Covers(q.c, q.v)) {
			t.Fatalf("meet of %+v and %+v holds %v", a, b, q)
		}
		if j := policies.Join(a, b); a.Covers(q.c, q.v) && b.Covers(q.c, q.v) && !j.Covers(q.c, q.v) {
			t.Fatalf("join of %+v and %+v lacks %v", a, b, q)
		}
		if len(c.Missing(c)) > 0 {
			t.Fatalf("%+v lacks something of itself: %v", c, c.Missing(c))
		}
	}
}

func BenchmarkUse(b *testing.B) {
	var rules []string
	for i := range 10 {
		rules = append(rules, fmt.Sprintf(`{"decision": "deny", "match": {"requests": ["net.connect:*.evil%d.example:443", "tools:evil%d_*"]}}`, i, i))
	}
	text := `{"rules": [` + strings.Join(rules, ",") + `]}`
	set := load(b, layers{policies.Managed: text, policies.User: text, policies.Project: text})
	s := installed
	s.Requests = perms(b, `{"tools": ["todo_*"], "events": {"tool_call": "full"}, "net": {"connect": ["api.example.org:443"]}}`)
	bound := set.Bind(s)
	b.Run("tool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !bound.Use(policies.Tools, "todo_add").Allowed() {
				b.Fatal("refused")
			}
		}
	})
	b.Run("event", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if bound.Event("tool_call") != policies.LevelFull {
				b.Fatal("refused")
			}
		}
	})
}

func TestUseAllocatesNothing(t *testing.T) {
	set := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": {"requests": "tools:evil_*"}}]}`})
	s := installed
	s.Requests = perms(t, `{"tools": ["todo_*"], "events": {"tool_call": "redacted"}}`)
	b := set.Bind(s)
	if n := testing.AllocsPerRun(100, func() {
		b.Use(policies.Tools, "todo_add")
		b.Use(policies.Tools, "evil_x")
		b.Event("tool_call")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
