package paths

import "testing"

func TestWhatDecidesIsFoundAnywhereAndInAnySpelling(t *testing.T) {
	for real, want := range map[string]bool{
		"/p/.zot": true, "/p/.zot/config.json": true, "/p/sub/.ZOT/x": true, "/p/.claude/skills/a/SKILL.md": true,
		"/p/sub/.Agents/Skills": true, "/.zot": true,
		"/p": false, "/p/.claude/settings.json": false, "/p/skills/a": false, "/p/.zotero/x": false, "/p/x.zot": false, "/p/.claude": false,
	} {
		if got := InDeciding(real); got != want {
			t.Errorf("%s: %v", real, got)
		}
	}
}
