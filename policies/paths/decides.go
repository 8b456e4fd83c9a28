package paths

import (
	"path/filepath"
	"strings"
)

// Skills lists the folders of other programs, by name and with slashes, in which
// zot finds skills of a project.
var Skills = []string{".claude/skills", ".agents/skills"}

// Decides lists the folders in which zot finds what a session is to load: those
// of its own, and [Skills]. Wherever one is put, a session that is started there
// reads it.
var Decides = append([]string{".zot"}, Skills...)

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
