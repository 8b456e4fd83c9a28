package policycmd

import (
	"fmt"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies/lock"
)

// difference lists what an entry changes, one thing a line.
func difference(name string, old, entry lock.Entry, had bool) []string {
	if !had {
		lines := []string{fmt.Sprintf("+ %s %s from %s", name, entry.Version, entry.Source), "    digest " + entry.Digest}
		for _, a := range entry.Permissions.Atoms() {
			lines = append(lines, "    + "+a.String())
		}
		return lines
	}
	var out []string
	for _, f := range [][3]string{
		{"version", old.Version, entry.Version}, {"source", old.Source, entry.Source}, {"ref", old.Ref, entry.Ref}, {"commit", old.Commit, entry.Commit},
		{"transport", old.Transport, entry.Transport}, {"digest", old.DigestFor(gate.Platform), entry.DigestFor(gate.Platform)}, {"contributes", old.Descriptors, entry.Descriptors},
	} {
		if f[1] != f[2] {
			out = append(out, fmt.Sprintf("    %s %s -> %s", f[0], orNone(f[1]), orNone(f[2])))
		}
	}
	for _, a := range entry.Permissions.Missing(old.Permissions) {
		out = append(out, "    + "+a.String())
	}
	for _, a := range old.Permissions.Missing(entry.Permissions) {
		out = append(out, "    - "+a.String())
	}
	if len(out) > 0 {
		out = append([]string{"~ " + name}, out...)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
