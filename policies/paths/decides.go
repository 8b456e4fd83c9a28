package paths

import (
	"path/filepath"
	"strings"
)

// Decides lists the folders, by name and with slashes, in which zot finds what
// a session is to load: those of its own, and those of other programs with
// skills. Wherever one is put, a session that is started there reads it.
var Decides = []string{".zot", ".claude/skills", ".agents/skills"}

// InDeciding tells whether a real path is one of [Decides], or in one, at
// whatever place and in whatever spelling.
func InDeciding(real string) bool {
	folded := "/" + strings.Trim(filepath.ToSlash(Fold(real)), "/") + "/"
	for _, name := range Decides {
		if strings.Contains(folded, "/"+name+"/") {
			return true
		}
	}
	return false
}
