// Package version says which zot this is.
package version

import (
	"runtime/debug"
	"strings"
)

// Number is the version of this build. Releases set it when they link.
var Number = "0.1.0-dev"

// String is the version with the commit it was built from, where that is known.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if commit == "" {
		return Number
	}
	return strings.TrimSpace(Number + " (" + commit[:min(12, len(commit))] + dirty + ")")
}
