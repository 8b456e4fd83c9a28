package compact

import (
	"encoding/json"

	"github.com/patriceckhart/zot/runtime/message"
)

// pathsOf lists the files that calls name in their arguments, each once, the
// latest of them where there are many.
func pathsOf(messages []message.Message) []string {
	var all []string
	seen := map[string]bool{}
	for i := len(messages) - 1; i >= 0 && len(all) < plainFiles; i-- {
		for _, c := range messages[i].ToolCalls() {
			var args struct {
				Path     string `json:"path"`
				FilePath string `json:"file_path"`
			}
			if json.Unmarshal(c.Args, &args) != nil {
				continue
			}
			for _, p := range []string{args.Path, args.FilePath} {
				if p != "" && len(p) < 300 && !seen[p] {
					seen[p] = true
					all = append(all, p)
				}
			}
		}
	}
	return all
}
