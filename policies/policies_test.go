package policies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/schemas"
)

// section reads the JSON of a policy as a layer's section; its file is called
// as the layer.
func section(t testing.TB, l policies.Layer, text string) policies.Section {
	t.Helper()
	file := l.String() + ".json"
	f, err := document.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return policies.Section{Layer: l, File: file, Text: f.Data, Node: f.Root}
}

type layers map[policies.Layer]string

// load reads layers, and fails the test where they have faults.
func load(t testing.TB, l layers) *policies.Set {
	t.Helper()
	set := loadAny(t, l)
	for _, p := range set.Problems {
		t.Errorf("unexpected: %v", p)
	}
	return set
}

func loadAny(t testing.TB, l layers) *policies.Set {
	t.Helper()
	var sections []policies.Section
	for layer := policies.Managed; layer <= policies.Flags; layer++ {
		if text, ok := l[layer]; ok {
			sections = append(sections, section(t, layer, text))
		}
	}
	return policies.Load(sections)
}

func perms(t testing.TB, text string) *policies.Grant {
	t.Helper()
	g, err := policies.ParsePermissions(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// want checks verdict, code and the start of the origin: "deny ZP021 user.json:1".
func want(t *testing.T, what string, d policies.Decision, want string) {
	t.Helper()
	got := fmt.Sprintf("%s %s %s", d.Verdict, d.Code, d.By)
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s: got %s (%s), want %s", what, got, d.Reason, want)
	}
	if d.Verdict < policies.Allow && (d.Reason == "" || d.Remedy == "") {
		t.Errorf("%s: a refusal without a reason or remedy: %+v", what, d)
	}
}

const digest = "zt1:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

var installed = policies.Subject{Name: "todo", Version: "1.2.0", Source: "https://example.org/team/todo", Digest: digest, Transport: "subprocess", Scope: policies.ScopeUser}

// vendored is an extension of a trusted project whose bytes are approved.
func vendored(t *testing.T, permissions string) policies.Subject {
	s := installed
	s.Scope, s.Source = policies.ScopeProject, "vendored:.zot/extensions/todo"
	s.Requests = perms(t, permissions)
	s.Approval = s.Requests
	return s
}

func TestTheMostRestrictiveLayerHolds(t *testing.T) {
	user := `{"rules": [{"id": "no-net", "decision": "deny", "match": {"requests": "net.connect:*"}}]}`
	project := `{"rules": [{"decision": "allow", "match": {"name": "todo"}, "grant": {"net": {"connect": ["api.x:443"]}}}]}`
	todo := vendored(t, `{"net": {"connect": ["api.x:443"]}}`)
	for _, order := range [][]policies.Section{
		{section(t, policies.User, user), section(t, policies.Project, project)},
		{section(t, policies.Project, project), section(t, policies.User, user)},
	} {
		b := policies.Load(order).Bind(todo)
		want(t, "load", b.Load(), "deny ZP021 user user.json:1:12 rule no-net")
		want(t, "use", b.Use(policies.NetConnect, "api.x:443"), "deny ZP021 user user.json:1:12 rule no-net")
	}
}

func TestStrictestModeHolds(t *testing.T) {
	set := load(t, layers{policies.Managed: `{"mode": "locked"}`, policies.Project: `{"mode": "open"}`})
	if m, at := set.Mode(); m != policies.Locked || at.String() != "managed managed.json:1:2 mode" {
		t.Errorf("mode is %s from %s", m, at)
	}
	want(t, "load", set.Bind(installed).Load(), "deny ZP020 managed managed.json:1:2 mode")
}

func TestAnAllowOfAProjectGrantsNothing(t *testing.T) {
	set := load(t, layers{policies.Project: `{"rules": [{"decision": "allow"}]}`})
	s := vendored(t, `{"tools": ["*"]}`)
	s.Approval, s.Untrusted = nil, true
	want(t, "untrusted", set.Bind(s).Load(), "ask ZP010")
	set.Headless = true
	want(t, "untrusted, headless", set.Bind(s).Load(), "deny ZP010")
	s.Untrusted = false
	want(t, "other bytes, headless", set.Bind(s).Load(), "deny ZP011")
}

func TestANameDoesNotIdentifyProjectContent(t *testing.T) {
	s := vendored(t, `{"tools": ["*"]}`)
	s.Approval, s.Untrusted = nil, true
	byName := load(t, layers{policies.User: `{"rules": [{"decision": "allow", "match": {"name": "todo"}}]}`})
	want(t, "by name", byName.Bind(s).Load(), "ask ZP010")
	byDigest := load(t, layers{policies.User: `{"rules": [{"decision": "allow", "match": {"digest": "` + digest + `"}}]}`})
	b := byDigest.Bind(s)
	want(t, "by digest", b.Load(), "allow ZP001")
	want(t, "by digest", b.Use(policies.Tools, "x"), "allow ZP001 user user.json")
}

func TestModes(t *testing.T) {
	locked := policies.LockFacts{Kept: true, Entry: true, Permissions: &policies.Grant{All: true}}
	change := func(f func(*policies.Subject)) func() policies.Subject {
		return func() policies.Subject {
			s := installed
			s.Lock = locked
			f(&s)
			return s
		}
	}
	project := func(f func(*policies.Subject)) func() policies.Subject {
		return change(func(s *policies.Subject) {
			s.Scope, s.Approval = policies.ScopeProject, &policies.Grant{All: true}
			f(s)
		})
	}
	none := func(*policies.Subject) {}
	tests := []struct {
		name                 string
		s                    func() policies.Subject
		open, pinned, locked string
	}{
		{"installed, in the lock", change(none), "allow ZP001", "allow ZP001", "deny ZP020"},
		{"installed, no lock", change(func(s *policies.Subject) { s.Lock = policies.LockFacts{} }), "allow ZP001", "deny ZP030", "deny ZP020"},
		{"content drift", change(func(s *policies.Subject) { s.Lock.ContentDrift, s.Lock.Changed = true, []string{"run.py"} }), "ask ZP031", "deny ZP031", "deny ZP020"},
		{"source drift", change(func(s *policies.Subject) { s.Lock.SourceDrift = true }), "ask ZP032", "deny ZP032", "deny ZP020"},
		{"descriptor drift", change(func(s *policies.Subject) { s.Lock.DescriptorDrift = true }), "ask ZP034", "deny ZP034", "deny ZP020"},
		{"other platform", change(func(s *policies.Subject) { s.Lock.PlatformMissing = true }), "ask ZP036", "deny ZP036", "deny ZP020"},
		{"asks for more than the lock", change(func(s *policies.Subject) { s.Lock.Permissions = &policies.Grant{} }), "allow ZP001", "deny ZP033", "deny ZP020"},
		{"named by --ext", change(func(s *policies.Subject) { s.Scope = policies.ScopeFlag }), "allow ZP001", "ask ZP012", "deny ZP020"},
		{"fetches what it runs", change(func(s *policies.Subject) { s.Launcher = "npx -y" }), "allow ZP001", "deny ZP084", "deny ZP020"},
		{"cannot be confined here", change(func(s *policies.Subject) { s.Unenforced = []string{"net.connect"} }), "allow ZP001", "ask ZP050", "deny ZP020"},
		{"project, approved and locked", project(none), "allow ZP001", "allow ZP001", "deny ZP020"},
		{"project, not approved", project(func(s *policies.Subject) { s.Approval = nil }), "ask ZP011", "ask ZP011", "deny ZP020"},
		{"project, not in the lock", project(func(s *policies.Subject) { s.Lock = policies.LockFacts{} }), "allow ZP001", "deny ZP030", "deny ZP020"},
	}
	for _, tt := range tests {
		for mode, wanted := range map[string]string{"open": tt.open, "pinned": tt.pinned, "locked": tt.locked} {
			set := load(t, layers{policies.User: `{"mode": "` + mode + `"}`})
			want(t, tt.name+", "+mode, set.Bind(tt.s()).Load(), wanted)
		}
	}
	t.Run("locked and listed", func(t *testing.T) {
		rule := func(match string) *policies.Set {
			return load(t, layers{policies.Managed: `{"mode": "locked", "rules": [{"decision": "allow", "match": ` + match + `}]}`})
		}
		want(t, "by name, installed", rule(`{"name": "todo"}`).Bind(change(none)()).Load(), "allow ZP001")
		want(t, "by name, project", rule(`{"name": "todo"}`).Bind(project(none)()).Load(), "deny ZP020")
		want(t, "by source, project", rule(`{"source": "https://example.org/team/**"}`).Bind(project(none)()).Load(), "allow ZP001")
		want(t, "by digest, drifted", rule(`{"digest": "`+digest+`"}`).Bind(change(func(s *policies.Subject) { s.Lock.ContentDrift = true })()).Load(), "deny ZP031")
	})
	t.Run("warnings in open", func(t *testing.T) {
		b := load(t, layers{}).Bind(change(func(s *policies.Subject) {
			s.Launcher, s.Unenforced, s.Lock.Permissions = "uvx", []string{"fs.read"}, &policies.Grant{}
		})())
		var codes []string
		for _, w := range b.Load().Warnings {
			codes = append(codes, string(w.Code))
		}
		if got := strings.Join(codes, " "); got != "ZP033 ZP084 ZP050" {
			t.Errorf("warnings are %s", got)
		}
		if d := b.Use(policies.Tools, "x"); d.Allowed() {
			t.Errorf("what the lock does not hold must be withheld: %+v", d)
		}
	})
}

func TestEnforceAndTrustNever(t *testing.T) {
	s := installed
	s.Unenforced = []string{"net.connect"}
	want(t, "ask", load(t, layers{policies.Project: `{"enforce": "ask"}`}).Bind(s).Load(), "ask ZP050 project project.json:1:2 enforce")
	want(t, "require", load(t, layers{policies.Env: `{"enforce": "require"}`}).Bind(s).Load(), "deny ZP050 env")
	never := load(t, layers{policies.User: `{"trust": {"project": "never"}}`})
	want(t, "never", never.Bind(vendored(t, `{}`)).Load(), "deny ZP010 user user.json:1:12 trust.project")
}

func TestRequiredExtensions(t *testing.T) {
	set := load(t, layers{
		policies.User:    `{"require": [{"name": "guard", "source": "https://example.org/sec/guard"}]}`,
		policies.Project: `{"rules": [{"id": "out", "decision": "deny", "match": {"name": "guard"}}], "unlisted": "deny"}`,
	})
	guard := installed
	guard.Name, guard.Source = "guard", "git@example.org:sec/guard.git"
	if missing := set.Missing([]policies.Subject{guard}); len(missing) != 1 {
		t.Errorf("ssh is another source than https: %v", missing)
	}
	guard.Source = "https://example.org:443/sec/guard.git"
	b := set.Bind(guard)
	d := b.Load()
	want(t, "load", d, "allow ZP001 user user.json:1:14 require guard")
	if len(d.Warnings) != 1 || d.Warnings[0].Code != policies.CodeRequiredDisabled || !strings.Contains(d.Warnings[0].Message, "project.json:1:12") {
		t.Errorf("warnings are %+v", d.Warnings)
	}
	want(t, "use", b.Use(policies.Intercepts, "tool_call=block"), "allow ZP001")
	if !b.FailsClosed("tool_call") || len(set.Missing([]policies.Subject{guard})) != 0 || !b.Required() {
		t.Error("a required guard must fail closed")
	}
	other := installed
	want(t, "another", set.Bind(other).Load(), "deny ZP020 project project.json")
	if missing := set.Missing([]policies.Subject{other}); len(missing) != 1 || missing[0].Name() != "guard" {
		t.Errorf("missing are %v", missing)
	}
	impostor := vendored(t, `{}`)
	impostor.Name = "guard"
	byName := load(t, layers{policies.User: `{"require": ["guard"]}`})
	if _, ok := byName.Required(impostor); ok {
		t.Error("a folder of the project must not pass as the guard by its name")
	}
}

func TestBrokenSectionsFailClosed(t *testing.T) {
	tests := []struct {
		layer         policies.Layer
		text          string
		problem, load string
	}{
		{policies.Managed, `{"mdoe": "locked"}`, `managed.json:1:2: policy has no key "mdoe" (ZP060); did you mean "mode"?`, "deny ZP060 managed managed.json:1:2"},
		{policies.User, `{"rules": [{"decision": "deny"}, {"match": {}}]}`, `user.json:1:34: rules[1] has no decision (ZP061)`, "deny ZP061"},
		{policies.Project, `{"rules": null}`, `project.json:1:11: rules must be a list, and is null (ZP062)`, "deny ZP062 project project.json:1:11"},
		{policies.Project, `{"Rules": []}`, `did you mean "rules"?`, "deny ZP062"},
		{policies.Project, `{"mode": "open", "mode": "locked"}`, `policy has the key "mode" twice, first in line 1`, "deny ZP062"},
		{policies.Local, `{"rules": [{"decision": "deny", "grant": {}}]}`, "a rule that denies grants nothing", "deny ZP062"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"nmae": "x"}}]}`, `match has no key "nmae" (ZP061); did you mean "name"?`, "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"name": []}}]}`, "match.name is empty", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"version": "new"}}]}`, "is not a range of versions", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"digest": "zt1:abc"}}]}`, "is not a digest", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"source": "http://x/y"}}]}`, "uses http://", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "match": {"source": "https://*.org/y"}}]}`, "not of the host", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "deny", "match": {"requests": "net.conect:*"}}]}`, `did you mean "net.connect"?`, "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "grant": {"fs": {"read": ["../x"]}}}]}`, "is not such a folder", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "allow", "grant": {"limits": {"memory": "1TiB"}}}]}`, "at most 16GiB", "deny ZP061"},
		{policies.User, `{"rules": [{"decision": "deny", "match": {"except": {}}}]}`, "excepts everything", "deny ZP061"},
		{policies.User, `{"require": [{"name": "*"}]}`, "must name one extension", "deny ZP061"},
		{policies.Env, `{"mode": "shut"}`, `mode is "shut" (ZP061); write one of open, pinned, locked`, "deny ZP061"},
	}
	for _, tt := range tests {
		set := loadAny(t, layers{tt.layer: tt.text})
		want(t, tt.text, set.Bind(installed).Load(), tt.load)
		switch {
		case tt.problem == "" && len(set.Problems) > 0 || tt.problem != "" && len(set.Problems) == 0:
			t.Errorf("%s: problems are %v", tt.text, set.Problems)
		case tt.problem != "" && !strings.Contains(set.Problems[0].Error(), tt.problem):
			t.Errorf("%s: got %v, want %s", tt.text, set.Problems[0], tt.problem)
		}
	}
}

func TestABrokenProjectSparesTheRequired(t *testing.T) {
	set := loadAny(t, layers{policies.Managed: `{"require": ["todo"]}`, policies.Project: `{"rules": 5}`})
	d := set.Bind(installed).Load()
	want(t, "required", d, "allow ZP001")
	if len(d.Warnings) == 0 {
		t.Error("it should be said that the project's policy is broken")
	}
	other := installed
	other.Name = "other"
	want(t, "other", set.Bind(other).Load(), "deny ZP062")
}

func TestKeysAProjectMayNotSet(t *testing.T) {
	set := loadAny(t, layers{policies.Project: `{"require": ["x"], "trust": {"project": "ask"}, "mode": "pinned"}`, policies.User: `{"recommend": []}`})
	var got []string
	for _, p := range set.Problems {
		got = append(got, p.Error())
	}
	all := strings.Join(got, "\n")
	for _, w := range []string{
		"project.json:1:2: policy.require may not be set by the project layer, and is ignored (ZP063); set it in: managed, user; a project may recommend",
		"project.json:1:20: policy.trust may not be set by the project layer", "user.json:1:2: policy.recommend may not be set by the user layer",
	} {
		if !strings.Contains(all, w) {
			t.Errorf("%q is missing from\n%s", w, all)
		}
	}
	if m, _ := set.Mode(); m != policies.Pinned || len(set.Requirements()) != 0 || !set.Valid() {
		t.Error("the rest must still narrow, and the key must be ignored")
	}
}

func TestUnknownAttributesCountAgainstTheExtension(t *testing.T) {
	bare := policies.Subject{Name: "todo", Scope: policies.ScopeUser, Transport: "subprocess"}
	for _, match := range []string{`{"version": "<2"}`, `{"source": "https://example.org/**"}`, `{"digest": "` + digest + `"}`} {
		deny := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": ` + match + `}]}`})
		if d := deny.Bind(bare).Load(); d.Verdict != policies.Deny {
			t.Errorf("deny %s: %+v", match, d)
		}
		allow := load(t, layers{policies.User: `{"unlisted": "deny", "rules": [{"decision": "allow", "match": ` + match + `}]}`})
		if d := allow.Bind(bare).Load(); d.Verdict != policies.Deny {
			t.Errorf("allow %s: %+v", match, d)
		}
	}
	pre := installed
	pre.Version = "1.0.0-evil"
	deny := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": {"version": "<2.0.0"}}]}`})
	want(t, "a pre-release", deny.Bind(pre).Load(), "deny ZP022")
}

func TestExceptions(t *testing.T) {
	set := load(t, layers{policies.Managed: `{"rules": [
		{"decision": "deny", "match": {"requests": "net.connect:*", "except": {"requests": "net.connect:*.corp.example:443"}}},
		{"decision": "deny", "match": {"name": "*", "except": {"name": ["todo", "t2"]}}}]}`})
	s := installed
	s.Requests = perms(t, `{"net": {"connect": ["api.corp.example:443"]}}`)
	want(t, "excepted", set.Bind(s).Load(), "allow")
	want(t, "excepted use", set.Bind(s).Use(policies.NetConnect, "api.corp.example:443"), "allow")
	s.Requests = perms(t, `{"net": {"connect": ["api.corp.example:443", "evil.example:443"]}}`)
	want(t, "not excepted", set.Bind(s).Load(), "deny ZP021")
	other := installed
	other.Name, other.Requests = "x", perms(t, `{}`)
	want(t, "another name", set.Bind(other).Load(), "deny ZP021")
}

func TestGrantsBoundRights(t *testing.T) {
	set := load(t, layers{
		policies.Managed: `{"rules": [{"decision": "allow", "match": {"name": "todo"}, "grant": {"tools": ["todo_*"], "fs": {"read": ["${project}"]}, "limits": {"memory": "64MiB"}}},
			{"decision": "allow", "match": {"name": "todo"}, "grant": {"events": {"tool_call": "redacted"}}},
			{"decision": "deny", "match": {"requests": "fs.read:${project}/secret"}}]}`,
		policies.Project: `{"rules": [{"decision": "allow", "grant": {"tools": ["*"], "events": {"*": "full"}, "fs": {"read": ["${project}/src", "${project}/secret"]}, "limits": {"memory": "1GiB", "frame": 4096}}}]}`,
	})
	s := installed
	s.Requests = perms(t, `{"tools": ["todo_add", "other"], "events": {"tool_call": "full", "turn_start": "full"}, "fs": {"read": ["${project}"]}}`)
	s.Roots = policies.Roots{Project: "/p"}
	b := set.Bind(s)
	want(t, "load", b.Load(), "allow")
	want(t, "tool inside", b.Use(policies.Tools, "todo_add"), "allow")
	want(t, "tool outside the grant", b.Use(policies.Tools, "other"), "deny ZP040 managed managed.json")
	want(t, "tool it did not ask for", b.Use(policies.Tools, "todo_x"), "deny ZP040 zot itself")
	want(t, "file inside", b.Use(policies.FSRead, "/p/src/a.go"), "allow")
	want(t, "file outside", b.Use(policies.FSRead, "/p/srcx"), "deny ZP040")
	if got := b.Event("tool_call"); got != policies.LevelRedacted {
		t.Errorf("tool_call is told %s", got)
	}
	if got := b.Event("turn_start"); got != policies.LevelNone {
		t.Errorf("turn_start is told %s", got)
	}
	if l := b.Limits(); l.Memory != 64<<20 || l.Frame != 4096 || l.OpenFiles != 256 {
		t.Errorf("limits are %+v", l)
	}
	g := b.Granted()
	if strings.Join(g.Tools, " ") != "todo_add" || strings.Join(g.FSRead, " ") != "/p/src" || g.Events["tool_call"] != policies.LevelRedacted {
		t.Errorf("granted is %+v", g)
	}
}

func TestHolesInFolders(t *testing.T) {
	s := policies.Subject{Name: "todo", Scope: policies.ScopeUser, Transport: "wasi", Requests: perms(t, `{"fs": {"read": ["${project}"]}}`)}
	denied := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": {"requests": "fs.read:${project}/secret"}}]}`}).Bind(s)
	want(t, "it asks for more than is denied", denied.Load(), "allow")
	want(t, "the part that is denied", denied.Use(policies.FSRead, "${project}/secret/key"), "deny ZP021")
	want(t, "the rest", denied.Use(policies.FSRead, "${project}/a"), "allow")
	if g := denied.Granted(); strings.Join(g.FSDeny, " ") != "${project}/secret" || strings.Join(g.FSRead, " ") != "${project}" {
		t.Errorf("granted is %+v", g)
	}
	hole := load(t, layers{policies.User: `{"rules": [{"decision": "allow", "grant": {"fs": {"read": ["${project}"], "deny": ["${project}/secret"]}}}]}`})
	b := hole.Bind(s)
	if d := b.Use(policies.FSRead, "${project}/secret/key"); d.Verdict != policies.Deny {
		t.Errorf("got %+v", d)
	}
	if g := b.Granted(); strings.Join(g.FSDeny, " ") != "${project}/secret" || strings.Join(g.FSRead, " ") != "${project}" {
		t.Errorf("granted is %+v", g)
	}
}

func TestNearbyAddressesMustBeNamed(t *testing.T) {
	g := perms(t, `{"net": {"connect": ["*:443", "*.corp.example:*", "127.0.0.1:8080", "[::1]:80"]}}`)
	for address, want := range map[string]bool{
		"example.org:443": true, "example.org:80": false, "a.corp.example:22": true, "corp.example:22": false,
		"127.0.0.1:443": false, "127.0.0.1:8080": true, "127.1:443": false, "localhost:443": false, "10.1.2.3:443": false,
		"192.168.0.1:443": false, "169.254.169.254:443": false, "[::1]:443": false, "[::1]:80": true, "[fe80::1]:443": false,
		"[::ffff:127.0.0.1]:443": false, "2130706433:443": false, "8.8.8.8:443": true, "printer.local:443": false, "localhost.:443": false,
	} {
		if got := g.Covers(policies.NetConnect, address); got != want {
			t.Errorf("%s: got %t, want %t", address, got, want)
		}
	}
}

func TestInterceptors(t *testing.T) {
	s := installed
	s.Requests = perms(t, `{"intercept": {"tool_call": {"may": ["block", "rewrite"]}}}`)
	set := load(t, layers{policies.User: `{"rules": [{"decision": "allow", "grant": {"intercept": {"tool_call": {"may": ["block"], "tools": ["bash"], "onFailure": "deny", "timeout": "2s"}}}}]}`})
	i, ok := set.Bind(s).Intercept("tool_call")
	if !ok || !i.Block || i.Rewrite || strings.Join(i.Tools, " ") != "bash" || !i.DenyOnFailure || i.Timeout.String() != "2s" {
		t.Errorf("got %+v, %t", i, ok)
	}
	if _, ok := set.Bind(s).Intercept("turn_start"); ok {
		t.Error("turn_start was granted to nobody")
	}
	open := load(t, layers{}).Bind(s)
	if open.FailsClosed("tool_call") {
		t.Error("in mode open an interceptor fails open")
	}
}

func TestExplainNamesEachLayer(t *testing.T) {
	set := load(t, layers{
		policies.Managed: `{"rules": [{"id": "a", "decision": "allow", "match": {"name": "todo"}}]}`,
		policies.User:    `{"rules": [{"id": "b", "decision": "deny", "match": {"requests": "net.connect:*"}, "reason": "no network at work"}]}`,
		policies.Project: `{"mode": "open"}`,
	})
	s := installed
	s.Requests = perms(t, `{"tools": ["x"]}`)
	d := set.Bind(s).ExplainUse(policies.NetConnect, "a.example:1")
	want(t, "use", d, "deny ZP021 user user.json:1:12 rule b")
	if len(d.PerLayer) != 3 || d.PerLayer[0].Verdict != policies.Allow || d.PerLayer[1].Reason != "no network at work" || !d.PerLayer[2].Silent {
		t.Errorf("layers are %+v", d.PerLayer)
	}
	if raw, err := json.Marshal(d); err != nil || !strings.Contains(string(raw), `"verdict":"deny"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestEnvSections(t *testing.T) {
	set := policies.Load(policies.EnvSections([]string{"ZOT_POLICY_MODE=locked", "ZOT_POLICY_UNLISTED=", "X=1"}))
	if m, at := set.Mode(); m != policies.Locked || len(set.Problems) > 0 || at.String() != "env ZOT_POLICY_MODE mode" {
		t.Errorf("mode is %s by %s, problems %v", m, at, set.Problems)
	}
	if s := policies.EnvSections([]string{"ZOT_MODEL=x"}); len(s) != 0 {
		t.Error("there is no variable of the policy")
	}
	for variable, want := range map[string]string{
		"ZOT_POLICY_MOD=locked":    "ZOT_POLICY_MOD: no key of a policy has this variable (ZP061); did you mean ZOT_POLICY_MODE?",
		"ZOT_POLICY_RULES=[]":      "ZOT_POLICY_RULES: no key of a policy has this variable (ZP061); there are ZOT_POLICY_AUDIT, ",
		"ZOT_POLICY_MODE=lockd":    `ZOT_POLICY_MODE: mode is "lockd" (ZP061); write one of open, pinned, locked`,
		"ZOT_POLICY_ENFORCE=maybe": `ZOT_POLICY_ENFORCE: enforce is "maybe" (ZP061)`,
	} {
		set := policies.Load(policies.EnvSections([]string{variable, "ZOT_POLICY_AUDIT=required"}))
		if set.Valid() || len(set.Problems) != 1 || !strings.HasPrefix(set.Problems[0].Error(), want) {
			t.Errorf("%s: got %v, want %s", variable, set.Problems, want)
		}
	}
}

func TestGrantsAreWrittenInOneWay(t *testing.T) {
	text := `{"callTool":["b","a"],"commands":["x"],"env":{"pass":["HOME"],"secrets":["KEY"]},"events":{"tool_call":"full"},"exec":{"run":["git"],"shell":true},"fs":{"read":["${project}"],"write":["/tmp/x"]},"intercept":{"tool_call":{"may":["block"],"onFailure":"deny","timeout":"5s","tools":["bash"]}},"limits":{"cpuPerCall":"5s","memory":"64MiB","openFiles":8},"net":{"connect":["a.b:443"]},"notify":true,"panels":true,"submit":"ask","systemPrompt":"read","tools":["t"]}`
	g := perms(t, text)
	out, err := json.Marshal(g)
	if err != nil || string(out) != strings.Replace(text, `["b","a"]`, `["a","b"]`, 1) {
		t.Errorf("got  %s, %v\nwant %s", out, err, text)
	}
	var again policies.Grant
	if err := json.Unmarshal(out, &again); err != nil || len(g.Missing(&again)) > 0 || len(again.Missing(g)) > 0 {
		t.Errorf("read back %+v, %v", again, err)
	}
	if all := perms(t, `"all"`); !all.All {
		t.Error("all is not read")
	}
	if p := perms(t, `null`); p != nil {
		t.Error("null declares nothing")
	}
	if _, err := policies.ParsePermissions(json.RawMessage(`{"tools": 5}`)); err == nil {
		t.Error("a wrong type must be an error")
	}
}

func TestSources(t *testing.T) {
	for in, want := range map[string]string{
		"https://GitHub.com:443/o/r.git":  "git+https://github.com/o/r",
		"git+https://github.com//o/./r/":  "git+https://github.com/o/r",
		"git@github.com:o/r.git":          "git+ssh://github.com/o/r",
		"ssh://git@github.com:22/o/r":     "git+ssh://github.com/o/r",
		"ssh://bob@h:2222/r#v1":           "git+ssh://bob@h:2222/r",
		"https://h/o/r.git//sub/dir/#abc": "git+https://h/o/r//sub/dir",
		"https://h/%6f/r":                 "git+https://h/o/r",
		"/home/u/ext/":                    "path:/home/u/ext",
		"vendored:.zot/extensions/x":      "vendored:.zot/extensions/x",
	} {
		if got, err := policies.NormalizeSource(in); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"https://GitHub.com:443/o/r.git/": "git+https://github.com/o/r.git",
		"https://h/o/r":                   "git+https://h/o/r",
		"git@h:o/r.git#v1":                "git+ssh://git@h/o/r.git",
		"https://h/o/r.git//sub/dir/":     "git+https://h/o/r.git//sub/dir",
		"path:/srv/r.git":                 "path:/srv/r.git",
	} {
		got, err := policies.SourceAddress(in)
		if again, errAgain := policies.SourceAddress(got); err != nil || errAgain != nil || got != want || again != got || !policies.SameSource(got, in) {
			t.Errorf("%s: got %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "-o", "--upload-pack=x", "ext::sh -c x", "git://h/r", "http://h/r", "file:///x", "https://u:p@h/r",
		"https://h", "https://h/r?x=1", "https://gıthub.com/o/r", "vendored:../x", "vendored:/x", "path:x", "o/r", "https://h\\@evil/r", "https://h/r\n",
	} {
		if got, err := policies.NormalizeSource(in); err == nil {
			t.Errorf("%q: got %q, want an error", in, got)
		}
	}
	for _, tt := range []struct {
		pattern string
		want    bool
	}{
		{"https://example.org/team/todo", true}, {"https://example.org/*/todo", true}, {"https://example.org/**", true},
		{"https://example.org/team/**", true}, {"https://example.org/team/todo/**", false}, {"https://example.org/*", false},
		{"git+ssh://example.org/team/todo", false}, {"https://example.org/team/tod", false},
	} {
		set := load(t, layers{policies.User: `{"unlisted": "deny", "rules": [{"decision": "allow", "match": {"source": "` + tt.pattern + `"}}]}`})
		if got := set.Bind(installed).Load().Allowed(); got != tt.want {
			t.Errorf("%s: got %t", tt.pattern, got)
		}
	}
	for _, tt := range []struct {
		pattern, source string
		want            bool
	}{
		{"vendored:**", "vendored:.zot/extensions/todo", true}, {"vendored:.zot/**", "vendored:.zot/extensions/todo", true},
		{"vendored:*", "vendored:.zot/extensions/todo", false}, {"vendored:*/*/todo", "vendored:.zot/extensions/todo", true},
		{"vendored:tools/**", "vendored:.zot/extensions/todo", false}, {"vendored:**", "path:/home/u/todo", false},
	} {
		s := installed
		s.Source = tt.source
		set := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": {"source": "` + tt.pattern + `"}}]}`})
		if got := !set.Bind(s).Load().Allowed(); got != tt.want {
			t.Errorf("%s about %s: got %t", tt.pattern, tt.source, got)
		}
	}
}

func TestRulesForTools(t *testing.T) {
	set := load(t, layers{
		policies.User:    `{"tools": {"write": "ask", "db_*": "deny", "bash": {"deny": ["rm *"], "ask": ["git push *"], "unlisted": "inherit"}}}`,
		policies.Project: `{"tools": {"write": "allow", "bash": "ask", "x-note": 1}}`,
	})
	want(t, "write", set.Tool("write"), "ask ZP021 user user.json:1:12 tools.write")
	want(t, "db", set.Tool("db_drop"), "deny ZP021 user")
	want(t, "bash", set.Tool("bash"), "ask ZP021 project")
	want(t, "read", set.Tool("read"), "allow ZP001 zot itself")
	set.Headless = true // whether somebody can be asked about a call is not known here
	want(t, "write, headless", set.Tool("write"), "ask ZP021")
	c := set.Commands()
	if len(c) != 1 || len(c[0].Rules) != 2 || c[0].Rules[0].At.String() != "user user.json:1:62 tools.bash.deny rm *" || c[0].Unlisted != policies.Allow {
		t.Errorf("commands are %+v", c)
	}
	for _, text := range []string{`{"tools": []}`, `{"tools": {"write": "no"}}`, `{"tools": {"write": {"deny": ["x"]}}}`, `{"tools": {"bash": {"denies": []}}}`, `{"tools": {"bash": {"deny": [""]}}}`, `{"tools": {"bash": {"unlisted": "allow"}}}`} {
		problems := schemas.Validate("policy", []byte(text))
		if set := loadAny(t, layers{policies.User: text}); set.Valid() || len(problems) == 0 {
			t.Errorf("%s: the schema says %v, the reader %v", text, problems, set.Problems)
		}
	}
}
