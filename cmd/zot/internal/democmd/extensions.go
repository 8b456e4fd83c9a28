package democmd

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

// The extensions of the demo that are processes: zot itself, started once more
// for each, and talking to zot as any extension does.
var processes = []struct {
	name, description string
	build             func(*ext.Extension)
}{
	{"guard", "refuses commands that delete folders", guard},
}

// The extension of the demo that is a WebAssembly module, built from the C file
// beside it. It may write in the project, and touch nothing else.
const (
	moduleName        = "changelog"
	moduleDescription = "adds lines to CHANGELOG.md"
)

//go:embed changelog/changelog.wasm
var module []byte

// newExtension returns the hidden "zot demo extension NAME".
func newExtension() *cobra.Command {
	return &cobra.Command{
		Use: "extension NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, x := range processes {
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
