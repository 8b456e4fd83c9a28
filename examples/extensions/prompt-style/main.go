// The program prompt-style puts house rules into the system prompt.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "prompt-style:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("prompt-style", "1.0.0")
	// Asked before the first model call of a session, and again when the
	// prompt is built anew. The answer is taken to the letter, and the next
	// extension sees it.
	e.InterceptBeforeAgentStart(func(start ext.BeforeAgentStartEvent) *string {
		rules, err := houseRules(e.Host(), start.CWD)
		if err != nil {
			e.Notify("warn", err.Error())
		}
		if rules == "" {
			return nil // keep the prompt as it is
		}
		prompt := start.SystemPrompt + "\n\n# House rules\n\n" + rules + "\n"
		return &prompt
	})
	return e
}

// houseRules reads style.md, the project's where it has one, else ours.
func houseRules(host ext.HostInfo, project string) (string, error) {
	for _, path := range []string{filepath.Join(project, ".zot", "style.md"), filepath.Join(host.ExtensionDir, "style.md")} {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		return strings.TrimSpace(string(text)), err
	}
	return "", nil
}
