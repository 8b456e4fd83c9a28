package democmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// The extensions of the demo. Each runs as a process of its own and talks to
// zot as any extension does.
var extensions = []struct {
	name, description string
	build             func(*ext.Extension)
}{
	{"changelog", "adds lines to CHANGELOG.md", changelog},
	{"guard", "refuses commands that delete folders", guard},
}

// newExtension returns the hidden "zot demo extension NAME".
func newExtension() *cobra.Command {
	return &cobra.Command{
		Use: "extension NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, x := range extensions {
				if x.name == args[0] {
					e := ext.New(x.name, "1.0.0")
					x.build(e)
					return e.Run()
				}
			}
			return fmt.Errorf("the demo has no extension %q", args[0])
		},
	}
}

// changelog brings a tool that the model can call.
func changelog(e *ext.Extension) {
	schema := json.RawMessage(`{"type":"object","properties":{"entry":{"type":"string","description":"what changed, in a sentence"}},"required":["entry"]}`)
	e.Tool(demo.ChangelogTool, "Adds an entry to the project's changelog.", schema, func(args json.RawMessage) ext.ToolResult {
		var in struct{ Entry string }
		if err := json.Unmarshal(args, &in); err != nil || strings.TrimSpace(in.Entry) == "" {
			return ext.TextErrorResult("give the entry as a sentence")
		}
		path := filepath.Join(e.Host().CWD, "CHANGELOG.md")
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return ext.TextErrorResult(err.Error())
		}
		_, err = fmt.Fprintf(f, "\n- %s\n", strings.TrimSpace(in.Entry))
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return ext.TextErrorResult(err.Error())
		}
		return ext.TextResult("added to CHANGELOG.md")
	})
}

var deletesFolders = regexp.MustCompile(`\brm\s+(-\S*\s+)*-\S*[rR]`)

// guard is asked about every tool call and refuses some.
func guard(e *ext.Extension) {
	e.InterceptToolCall(func(tool string, args json.RawMessage) (allow bool, reason string) {
		var in struct{ Command string }
		if tool != "bash" || json.Unmarshal(args, &in) != nil || !deletesFolders.MatchString(in.Command) {
			return true, ""
		}
		return false, fmt.Sprintf("refused by the guard extension: %q deletes folders without asking", in.Command)
	})
}
