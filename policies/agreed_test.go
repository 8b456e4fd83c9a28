package policies_test

import (
	"testing"

	"github.com/patriceckhart/zot/policies"
)

// A yes to a question answers that question, and lifts no denial and no want of
// trust.
func TestAgreed(t *testing.T) {
	ask := `{"rules": [{"decision": "ask", "match": {"name": "todo"}}]}`
	s := installed
	want(t, "asked", load(t, layers{policies.User: ask}).Bind(s).Load(), "ask ZP021")
	s.Agreed = true
	b := load(t, layers{policies.User: ask}).Bind(s)
	want(t, "agreed", b.Load(), "allow ZP001")
	want(t, "a right, agreed", b.Use(policies.Tools, "weather"), "allow ZP001")
	want(t, "denied by another", load(t, layers{policies.User: ask, policies.Managed: `{"rules": [{"decision": "deny"}]}`}).Bind(s).Load(), "deny ZP021")
	want(t, "a right denied by another", load(t, layers{policies.User: ask, policies.Project: `{"rules": [{"decision": "deny", "match": {"requests": "tools:weather"}}]}`}).Bind(s).Use(policies.Tools, "weather"), "deny ZP021")
	s.Lock = policies.LockFacts{Kept: true, Entry: true, ContentDrift: true, Permissions: &policies.Grant{All: true}}
	want(t, "drifted, open", load(t, layers{}).Bind(s).Load(), "allow ZP001")
	want(t, "drifted, pinned", load(t, layers{policies.User: `{"mode": "pinned"}`}).Bind(s).Load(), "deny ZP031")
	s.Scope, s.Untrusted = policies.ScopeProject, true
	want(t, "untrusted", load(t, layers{policies.User: ask}).Bind(s).Load(), "ask ZP010")
}
