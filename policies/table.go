package policies

import (
	"encoding/json"
	"errors"
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
// Without "use" the question is whether the extension may load. A test with
// "tool", or with a "command" line of bash, is about a call of the model:
//
//	{"name": "no force", "command": "cd x && git push --force", "want": "deny"}
type TableTest struct {
	Name      string         `json:"name"`
	Extension TableExtension `json:"extension"`
	Use       string         `json:"use"`
	Tool      string         `json:"tool"`
	Command   string         `json:"command"`
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

// ParseTable reads a table. The error is a *schemas.FileError, with the place of
// each fault.
func ParseTable(name string, data []byte) ([]TableTest, error) {
	fail := func(problems ...schemas.Problem) ([]TableTest, error) {
		return nil, &schemas.FileError{File: name, Text: data, Problems: problems}
	}
	f, err := document.Parse(name, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return fail(schemas.Problem{Kind: schemas.KindSyntax, Line: syntax.Pos.Line, Column: syntax.Pos.Column, Message: syntax.Msg, Remedy: syntax.Remedy})
	}
	if problems := f.Validate("policy-tests"); len(problems) > 0 {
		return fail(problems...)
	}
	var tests []TableTest
	for _, n := range f.Root.Get("tests").Items {
		t := TableTest{pos: n.Pos}
		err := json.Unmarshal(n.JSON(), &t)
		if err == nil {
			_, err = ParsePermissions(t.Extension.Permissions) // says more than the schema
		}
		if err == nil {
			err = t.oneQuestion(n.Get("extension") != nil)
		}
		if err != nil {
			return fail(schemas.Problem{Kind: schemas.KindValue, Line: n.Pos.Line, Column: n.Pos.Column, Message: err.Error()})
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// oneQuestion refuses a test that asks about an extension and a call at once.
func (t TableTest) oneQuestion(extension bool) error {
	switch {
	case t.Command != "" && t.Tool != "" && t.Tool != "bash":
		return fmt.Errorf("tool %q runs no command; leave out the one or the other", t.Tool)
	case (t.Command != "" || t.Tool != "") && (extension || t.Use != ""):
		return errors.New("a test is about an extension, or about a call of a tool; make it two tests")
	}
	return nil
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

// RunTable puts the questions, and returns the tests that failed. A command line
// is judged by line, for which the package commands is.
func (s *Set) RunTable(tests []TableTest, line func(Decision, string) Decision) []TableResult {
	var failed []TableResult
	for _, t := range tests {
		d := s.answer(t, line)
		if d.Verdict.String() != t.Want || t.Code != "" && d.Code != t.Code {
			failed = append(failed, TableResult{t, d, t.pos})
		}
	}
	return failed
}

func (s *Set) answer(t TableTest, line func(Decision, string) Decision) Decision {
	if t.Tool != "" || t.Command != "" {
		return s.answerCall(t, line)
	}
	set := *s
	set.Headless = t.Headless
	b := set.Bind(t.Extension.subject())
	if t.Use == "" {
		return b.ExplainLoad()
	}
	c, value, _ := ParseUse(t.Use)
	return b.ExplainUse(c, value)
}

// answerCall is the answer to a call; where nobody can be asked, ask is deny.
func (s *Set) answerCall(t TableTest, line func(Decision, string) Decision) Decision {
	if t.Command != "" {
		t.Tool = "bash"
	}
	d := s.Tool(t.Tool)
	if t.Command != "" {
		d = line(d, t.Command)
	}
	if d.Verdict == Ask && t.Headless {
		d.Verdict, d.Code = Deny, CodeApprovalNeeded
	}
	return d
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
