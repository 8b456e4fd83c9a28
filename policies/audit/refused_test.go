package audit_test

import (
	"path/filepath"
	"testing"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
)

func TestRefusedTo(t *testing.T) {
	h := home.Home(t.TempDir())
	if found, err := audit.RefusedTo(filepath.Join(h.Dir(), "none"), "a", "p"); err != nil || found != nil {
		t.Errorf("no log: %v, %v", found, err)
	}
	log, err := audit.Open(h)
	if err != nil {
		t.Fatal(err)
	}
	put := func(extension, policy string, c policies.Capability, value string, v policies.Verdict) {
		t.Helper()
		r := audit.Record{Code: "ZP040", Verdict: v, Extension: extension, Policy: policy, Capability: c, Value: value}
		if err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	put("a", "p", policies.Tools, "x", policies.Deny)
	put("a", "p", policies.Tools, "y", policies.Deny)
	put("a", "p", policies.Tools, "x", policies.Deny)
	put("a", "p", policies.Tools, "z", policies.Allow)
	put("a", "another policy", policies.Tools, "old", policies.Deny)
	put("ab", "p", policies.Tools, "not its own", policies.Deny)
	put("a", "p", "", "", policies.Deny) // it did not load

	found, err := audit.RefusedTo(h.AuditFile(), "a", "p")
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if found[0].Value != "x" || found[0].Count != 2 || found[1].Value != "y" || found[1].Count != 1 {
		t.Errorf("%+v", found)
	}
}
