package extension_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
)

// notes lists what was said of an extension by the host.
func (r *rig) notes(name string) (all []string) {
	for _, n := range emitted[event.ExtNotify](r) {
		if n.Extension == name {
			all = append(all, n.Message)
		}
	}
	return all
}

// Who owns a name follows from the rank and not from who was quicker; the
// loser is told once, to the user and in its log.
func TestRankBeatsSpeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first, second := newPuppet(t, "first"), newPuppet(t, "second")
		r := rigOf(t, extension.Options{}, first, second)
		second.load(commandGo, toolEcho, askedTool)
		if r.toolNames() != "second/echo" || r.commandNames() != "second/go" {
			t.Fatalf("tools %q, commands %q", r.toolNames(), r.commandNames())
		}
		first.load(commandGo, toolEcho, askedTool)
		if r.toolNames() != "first/echo" || r.commandNames() != "first/go" {
			t.Errorf("tools %q, commands %q, want those of first", r.toolNames(), r.commandNames())
		}
		notes := r.notes("second")
		if len(notes) != 2 || len(r.notes("first")) != 0 {
			t.Errorf("notes of second: %q, of first: %q; want two and none", notes, r.notes("first"))
		}
		wantContains(t, strings.Join(notes, "\n"),
			"command /go conflicts with another extension registering the same name: first has it as /go",
			"tool echo conflicts with another extension registering the same name: first has it")
		wantContains(t, r.log("second"), "tool echo conflicts with another extension")
		for _, reg := range slices.Concat(r.status("second").Commands, r.status("second").Tools) {
			if reg.Active {
				t.Errorf("%s of second is active", reg.Name)
			}
		}

		// The first is asked first, though the second was ready before it.
		w := r.guard(t.Context(), `{}`)
		q := first.hears("event_intercept")
		second.hearsNothing()
		first.answer(q, allow)
		second.answer(second.hears("event_intercept"), allow)
		if v, err := w.result(); err != nil || v.Blocked {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// When the owner of a name dies, the name goes to the next, without another
// word to the user about the conflict.
func TestNamesOfTheDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		changes := 0
		a, b, c := newPuppet(t, "a"), newPuppet(t, "b"), newPuppet(t, "c")
		r := rigOf(t, extension.Options{ToolsChanged: func() { changes++ }}, a, b, c)
		for _, p := range []*puppet{a, b, c} {
			p.load(commandGo, toolEcho)
		}
		for _, p := range []*puppet{b, c} {
			if n := len(r.notes(p.name)); n != 2 {
				t.Errorf("%s was told of %d conflicts, want 2", p.name, n)
			}
		}
		before := changes
		a.dies(0, "")
		if r.toolNames() != "b/echo" || r.commandNames() != "b/go" || changes == before {
			t.Errorf("tools %q, commands %q, want those of b; %d changes told", r.toolNames(), r.commandNames(), changes-before)
		}
		wantContains(t, r.log("b"), "tool echo is active here now", "command /go is active here now")
		w := r.call(t.Context(), "echo")
		b.answer(b.hears("tool_call"), toolOK)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}
		b.dies(0, "")
		if r.toolNames() != "c/echo" || r.commandNames() != "c/go" {
			t.Errorf("tools %q, commands %q, want those of c", r.toolNames(), r.commandNames())
		}
		c.dies(0, "")
		if r.toolNames() != "" || r.commandNames() != "" {
			t.Errorf("tools %q, commands %q, want none", r.toolNames(), r.commandNames())
		}
		if n := len(r.notes("c")); n != 2 {
			t.Errorf("c was told of %d conflicts, want 2", n)
		}
	})
}

// Names of built-ins cannot be had; those of commands are compared without
// regard to case, and run under the spelling registered.
func TestBuiltinsAndCase(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPuppet(t, "a"), newPuppet(t, "b")
		r := rigOf(t, extension.Options{
			BuiltinCommand: func(name string) bool { return command.Fold(name) == "help" },
			BuiltinTool:    func(name string) bool { return name == "bash" },
		}, a, b)
		a.load(`{"type":"register_command","name":"Help"}`, `{"type":"register_command","name":"Deploy"}`,
			`{"type":"register_command","name":"deploy"}`, `{"type":"register_command","name":"STRASSE"}`,
			`{"type":"register_tool","name":"bash","schema":{"type":"object"}}`,
			`{"type":"register_tool","name":"Bash","schema":{"type":"object"}}`)
		b.load(`{"type":"register_command","name":"DEPLOY"}`)
		if got := r.commandNames(); got != "a/Deploy a/STRASSE" {
			t.Errorf("commands %q", got)
		}
		if got := r.toolNames(); got != "a/Bash" {
			t.Errorf("tools %q", got)
		}
		wantContains(t, strings.Join(r.notes("a"), "\n"),
			"command /Help is set aside: zot has a command of that name", "tool bash is set aside: zot has a tool of that name",
			"command /deploy is set aside: the extension registered /Deploy before")
		wantContains(t, strings.Join(r.notes("b"), "\n"), "command /DEPLOY conflicts with another extension", "a has it as /Deploy")

		w := r.command(t.Context(), "dePLOY", "  to  the\tmoon ")
		q := a.hears("command_invoked")
		if q["name"] != "Deploy" || q["args"] != "to  the\tmoon" {
			t.Errorf("invoked %v", q)
		}
		a.answer(q, commandOK)
		if resp, err := w.result(); err != nil || resp.Display != "ok" {
			t.Errorf("%+v, %v", resp, err)
		}
	})
}

// Definitions that no model would take are set aside, each with the reason;
// the good ones beside them work.
func TestToolDefinitions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bad := []struct{ frame, want string }{
			{`"name":"none"`, "no schema"},
			{`"name":"null","schema":null`, "no schema"},
			{`"name":"string","schema":"object"`, "not a JSON object"},
			{`"name":"number","schema":7`, "not a JSON object"},
			{`"name":"list","schema":[]`, "not a JSON object"},
			{`"name":"untyped","schema":{}`, `(got none)`},
			{`"name":"typed","schema":{"type":"string"}`, `(got "string")`},
			{`"name":"types","schema":{"type":["object"]}`, `(got ["object"])`},
			{`"name":"inner","schema":{"type":"object","properties":{"a":{"type":"int"}}}`, "not a JSON Schema"},
			{`"name":"file","schema":{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "not allowed"},
			{`"name":"net","schema":{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, "not allowed"},
			{`"name":"","schema":{"type":"object"}`, "1 to 64"},
			{`"name":"a b","schema":{"type":"object"}`, "1 to 64"},
			{`"name":"` + strings.Repeat("x", 65) + `","schema":{"type":"object"}`, "1 to 64"},
			{`"name":"odd","exposure":"sometimes","schema":{"type":"object"}`, `unknown exposure "sometimes"`},
		}
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load()
		for _, c := range bad {
			r.forget()
			p.say(`{"type":"register_tool",` + c.frame + `}`)
			notes := r.notes("ext")
			if len(notes) != 1 || !strings.Contains(notes[0], c.want) || !strings.Contains(notes[0], "is set aside") {
				t.Errorf("%s: notes %q, want one with %q", c.frame, notes, c.want)
			}
		}
		p.say(`{"type":"register_tool","name":"good","description":"d","schema":{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}},"deferred":true,"namespace":"sky","output_schema":{"type":"object"},"interactive":true}`,
			`{"type":"register_tool","name":"shown","schema":{"type":"object"},"deferred":true,"exposure":"direct"}`,
			`{"type":"register_tool","name":"hidden","schema":{"type":"object"},"exposure":"deferred"}`)
		if got := r.toolNames(); got != "ext/good ext/shown ext/hidden" {
			t.Errorf("tools %q", got)
		}
		s := r.tool("good").Spec()
		if s.Description != "d" || !s.Deferred || !s.Interactive || s.Namespace != "sky" || len(s.OutputSchema) == 0 || s.Extension != "ext" {
			t.Errorf("spec %+v", s)
		}
		if r.tool("shown").Spec().Deferred || !r.tool("hidden").Spec().Deferred {
			t.Error("exposure does not decide over deferred")
		}
	})
}

// Names that could not be typed are set aside.
func TestCommandNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load()
		for _, name := range []string{"", "two words", "a/b", "/go", "x.y"} {
			p.say(fmt.Sprintf(`{"type":"register_command","name":%q}`, name))
		}
		for _, name := range []string{"go-on_2:x", "grüße", "日本"} {
			p.say(fmt.Sprintf(`{"type":"register_command","name":%q}`, name))
		}
		if got := r.commandNames(); got != "ext/go-on_2:x ext/grüße ext/日本" {
			t.Errorf("commands %q", got)
		}
		if n := len(r.notes("ext")); n != 5 {
			t.Errorf("%d notes, want 5: %q", n, r.notes("ext"))
		}
	})
}
