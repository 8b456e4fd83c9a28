package policies

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

// A TableTest is a question and the answer that a policy must give. Tables
// stand beside a policy, in policy.tests.json or policy.tests.yaml:
//
//	{"tests": [{
//	  "name": "no network for strangers",
//	  "extension": {"name": "todo", "scope": "user", "permissions": {"net": {"connect": ["x:443"]}}},
//	  "use": "net.connect=x:443",
//	  "want": "deny", "code": "ZP021"
//	}]}
//
// Without "use" the question is whether the extension may load.
type TableTest struct {
	Name      string         `json:"name"`
	Extension TableExtension `json:"extension"`
	Use       string         `json:"use"`
	Headless  bool           `json:"headless"`
	Want      string         `json:"want"` // deny, ask or allow
	Code      Code           `json:"code"` // empty: any

	pos document.Pos
}

// A TableExtension describes the extension that a test is about.
type TableExtension struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Source      string          `json:"source"`
	Digest      string          `json:"digest"`
	Transport   string          `json:"transport"` // subprocess where it is empty
	Scope       Scope           `json:"scope"`     // user where it is empty
	Permissions json.RawMessage `json:"permissions"`
	// Trusted says that the user has approved what it asks for.
	Trusted bool `json:"trusted"`
	// Locked says that the lock holds it as it is; Drifted, that it holds other
	// bytes.
	Locked  bool `json:"locked"`
	Drifted bool `json:"drifted"`
}

// A TableResult is a test that failed.
type TableResult struct {
	Test TableTest
	Got  Decision
	Pos  document.Pos
}

// String says what was wanted and what came.
func (r TableResult) String() string {
	want := r.Test.Want
	if r.Test.Code != "" {
		want += " " + string(r.Test.Code)
	}
	return fmt.Sprintf("%q: want %s, got %s %s by %s: %s", r.Test.Name, want, r.Got.Verdict, r.Got.Code, r.Got.By, r.Got.Reason)
}

// ParseTable reads a table. The error is a *document.SyntaxError, or names the
// place of the fault.
func ParseTable(name string, data []byte) ([]TableTest, error) {
	f, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var tests []TableTest
	for _, m := range f.Root.Members {
		if m.Name != "tests" && m.Name != "$schema" && !strings.HasPrefix(m.Name, "x-") {
			return nil, &document.SyntaxError{File: name, Pos: m.Pos, Msg: fmt.Sprintf("unknown key %q; a table has tests", m.Name)}
		}
	}
	list := f.Root.Get("tests")
	if list == nil || list.Kind != document.List {
		return nil, &document.SyntaxError{File: name, Pos: f.Root.Pos, Msg: `a table has "tests": […]`}
	}
	for _, n := range list.Items {
		var t TableTest
		dec := json.NewDecoder(strings.NewReader(string(n.JSON())))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&t); err != nil {
			return nil, &document.SyntaxError{File: name, Pos: n.Pos, Msg: err.Error()}
		}
		if err := t.check(); err != "" {
			return nil, &document.SyntaxError{File: name, Pos: n.Pos, Msg: err}
		}
		t.pos = n.Pos
		tests = append(tests, t)
	}
	return tests, nil
}

func (t *TableTest) check() string {
	if near := schemas.Nearest(t.Want, []string{"deny", "ask", "allow"}); near != t.Want {
		return fmt.Sprintf("want is %q; write deny, ask or allow", t.Want)
	}
	if _, err := ParsePermissions(t.Extension.Permissions); err != nil {
		return err.Error()
	}
	if t.Use != "" {
		if _, _, ok := ParseUse(t.Use); !ok {
			return fmt.Sprintf("use is %q; write a capability, perhaps with a value: net.connect=host:443", t.Use)
		}
	}
	return ""
}

// ParseUse reads a question as the command line takes it: "panels",
// "net.connect=host:443".
func ParseUse(text string) (c Capability, value string, ok bool) {
	name, value, _ := strings.Cut(text, "=")
	for _, known := range Capabilities {
		if string(known) == name {
			return known, value, true
		}
	}
	return "", "", false
}

// RunTable puts the questions, and returns the tests that failed.
func (s *Set) RunTable(tests []TableTest) []TableResult {
	var failed []TableResult
	for _, t := range tests {
		set := *s
		set.Headless = t.Headless
		b := set.Bind(t.Extension.subject())
		d := b.ExplainLoad()
		if t.Use != "" {
			c, value, _ := ParseUse(t.Use)
			d = b.ExplainUse(c, value)
		}
		if d.Verdict.String() != t.Want || t.Code != "" && d.Code != t.Code {
			failed = append(failed, TableResult{t, d, t.pos})
		}
	}
	return failed
}

func (e TableExtension) subject() Subject {
	permissions, _ := ParsePermissions(e.Permissions) // checked before
	s := Subject{
		Name: e.Name, Version: e.Version, Source: e.Source, Digest: e.Digest, Transport: e.Transport, Scope: e.Scope,
		Requests: permissions, Untrusted: e.Scope == ScopeProject && !e.Trusted,
	}
	if s.Transport == "" {
		s.Transport = "subprocess"
	}
	if s.Scope == "" {
		s.Scope = ScopeUser
	}
	asked := AskedFor(permissions, s.Transport)
	if e.Trusted {
		s.Approval = asked
	}
	if e.Locked || e.Drifted {
		s.Lock = LockFacts{Kept: true, Entry: true, ContentDrift: e.Drifted, Permissions: asked}
	}
	return s
}
