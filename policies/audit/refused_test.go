package audit_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
)

func TestRefusedTo(t *testing.T) {
	h := home.Home(t.TempDir())
	if found, err := audit.RefusedTo(h.AuditFile(), "a"); err != nil || len(found) != 0 {
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
	put("a", "another", policies.Tools, "old", policies.Deny)
	put("a", "another", policies.Tools, "x", policies.Deny)
	// The log goes on in a new file.
	if err := os.Rename(h.AuditFile(), h.AuditFile()+".1"); err != nil {
		t.Fatal(err)
	}
	put("a", "p", policies.Tools, "y", policies.Deny)
	put("a", "p", policies.Tools, "x", policies.Deny)
	put("a", "p", policies.Tools, "z", policies.Allow)
	put("ab", "p", policies.Tools, "not asked about", policies.Deny)
	put("b", "p", policies.Tools, "x", policies.Ask)
	put("a", "p", "", "", policies.Deny) // it did not load

	all, err := audit.RefusedTo(h.AuditFile(), "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, extension := range []string{"a", "b", "c"} {
		for _, r := range all[extension] {
			got = append(got, fmt.Sprint(extension, " ", r.Value, " ", r.Count, " ", r.Policy))
		}
	}
	if diff := cmp.Diff([]string{"a x 2 p", "a y 1 p", "a old 1 another", "b x 1 p"}, got); diff != "" || len(all) != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
