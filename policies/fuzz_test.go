package policies_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
)

// Whatever a section holds, it is either read or it closes.
func FuzzPolicy(f *testing.F) {
	f.Add(`{"mode": "pinned", "rules": [{"decision": "deny", "match": {"requests": "net.connect:*", "except": {"name": "x"}}}]}`, "net.connect", "a.b:443")
	f.Add(`{"rules": [{"decision": "allow", "grant": {"fs": {"read": ["${project}"]}, "limits": {"memory": "1MiB"}}}], "tools": {"bash": {"deny": ["rm *"]}}}`, "fs.read", "${project}/x")
	f.Fuzz(func(t *testing.T, text, capability, value string) {
		file, err := document.Parse("p.json", []byte(text))
		if err != nil {
			return
		}
		set := policies.Load([]policies.Section{{Layer: policies.User, File: "p.json", Node: file.Root}})
		b := set.Bind(installed)
		d := b.Use(policies.Capability(capability), value)
		if !set.Valid() && (b.Load().Verdict != policies.Deny || d.Verdict != policies.Deny) {
			t.Errorf("%s cannot be read and does not close", text)
		}
		b.Granted().Atoms()
		b.ExplainUse(policies.Capability(capability), value)
		set.Lint()
	})
}

// One source has one form, and the form of a form is itself.
func FuzzNormalizeSource(f *testing.F) {
	for _, s := range []string{"https://H:443/o/r.git//sub#x", "git@h:o/r", "ssh://u@h:22/r", "path:/a/../b", "vendored:.zot/x", "https://h/%2e%2e/r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		norm, err := policies.NormalizeSource(text)
		if err != nil {
			return
		}
		again, err := policies.NormalizeSource(norm)
		if err != nil || again != norm {
			t.Errorf("%q gives %q, which gives %q, %v", text, norm, again, err)
		}
		if slices.Contains(strings.Split(norm, "/"), "..") {
			t.Errorf("%q gives %q, which climbs", text, norm)
		}
	})
}

func TestAnInsecureFileCloses(t *testing.T) {
	set := policies.Load([]policies.Section{{Layer: policies.Managed, File: "/etc/zot/config.json", Err: errors.New("others can write it"), Insecure: true}})
	want(t, "load", set.Bind(installed).Load(), "deny ZP064 managed /etc/zot/config.json")
}
