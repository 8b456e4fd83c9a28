package democmd

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// The extensions of the demo that are processes: zot itself, started once more
// for each, and talking to zot as any extension does.
var processes = []struct {
	name, description string
	build             func(*ext.Extension)
}{
	{"guard", "refuses commands that delete folders, and moves them to a trash instead", guard},
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

// guard is asked about every tool call and refuses some. It has a tool for what
// they were for.
func guard(e *ext.Extension) {
	e.InterceptToolCall(func(tool string, args json.RawMessage) (allow bool, reason string) {
		var in struct{ Command string }
		if tool != "bash" || json.Unmarshal(args, &in) != nil || !deletesFolders.MatchString(in.Command) {
			return true, ""
		}
		return false, fmt.Sprintf("refused by the guard extension: %q deletes folders; %s does it safely", in.Command, demo.TrashTool)
	})
	e.Tool(demo.TrashTool, "Moves a file or folder of the project into the project's .trash folder.",
		json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		func(args json.RawMessage) ext.ToolResult {
			var in struct{ Path string }
			if err := json.Unmarshal(args, &in); err != nil {
				return ext.TextErrorResult(err.Error())
			}
			if err := trash(e.Host().CWD, in.Path); err != nil {
				return ext.TextErrorResult(err.Error())
			}
			return ext.TextResult(fmt.Sprintf("moved %s to .trash", in.Path))
		})
}

// trash moves path, a name inside of the project, into its trash.
func trash(project, path string) error {
	root, err := os.OpenRoot(project)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(".trash", 0o755); err != nil {
		return err
	}
	return root.Rename(path, filepath.Join(".trash", filepath.Base(path)))
}
