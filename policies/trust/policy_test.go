package trust_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies/trust"
)

// policyOf is a bundle whose project layer has the section.
func policyOf(t *testing.T, section string) *trust.Bundle {
	t.Helper()
	f, err := document.Parse("config.json", []byte(section))
	if err != nil {
		t.Fatal(err)
	}
	return &trust.Bundle{Digest: "zb1:" + section, Policy: map[string]*document.Node{"project": f.Root}}
}

// A key that has ranks is asked about where its word became laxer, and only
// there; the laxest word bounds nothing that could be lost.
func TestRankedWords(t *testing.T) {
	for key, words := range map[string][]string{
		"mode": {"open", "pinned", "locked"}, "unlisted": {"inherit", "ask", "deny"}, "enforce": {"mode", "ask", "require"},
		"audit": {"on", "required"}, "skillTools": {"any", "ask", "listed"},
	} {
		for was, before := range words {
			kept := trust.NewRecord(trust.Identity{}, policyOf(t, fmt.Sprintf(`{%q: %q}`, key, before)), time.Now())
			for is, now := range append([]string{""}, words...) { // at 0 the key is not there
				section := "{}"
				if is > 0 {
					section = fmt.Sprintf(`{%q: %q}`, key, now)
				}
				got := strings.Join(kept.Compare(policyOf(t, section)).Policy, "; ")
				want := ""
				if was > 0 && is-1 < was {
					want = fmt.Sprintf("no longer %s %q", key, before)
				}
				if got != want {
					t.Errorf("%s from %q to %q: asks about %q, want %q", key, before, now, got, want)
				}
			}
		}
	}
}
