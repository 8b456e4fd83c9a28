package democmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// A place is the temporary folder of one demo: a project, and a home for zot,
// so that nothing of the user's own is touched.
type place struct{ root, project, home string }

func newPlace() (*place, error) {
	root, err := os.MkdirTemp("", "zot-demo-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	p := &place{root: root, project: filepath.Join(root, "project"), home: filepath.Join(root, "home")}
	for _, f := range demo.Project() {
		if err := write(filepath.Join(p.project, f.Name), f.Text); err != nil {
			return nil, err
		}
	}
	// The project stands alone, whatever the user's shell says of workspaces.
	return p, firstError(os.Setenv("GOWORK", "off"), os.Setenv("GOFLAGS", ""))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// policy is what the demo's user has decided: nobody publishes.
const policy = `{
  "policy": {
    "tools": {"bash": {"deny": ["git push *"]}}
  }
}
`

// install puts the demo's extensions where any other is installed, by the
// installer that any other is installed with, and its policy where the user's
// settings are.
func (p *place) install(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := write(filepath.Join(p.home, "config.json"), policy); err != nil {
		return err
	}
	if err := write(filepath.Join(p.source(moduleName), moduleName+".wasm"), string(module)); err != nil {
		return err
	}
	manifests := []map[string]any{{
		"name": moduleName, "description": moduleDescription, "exec": "./" + moduleName + ".wasm",
		"permissions": map[string]any{"tools": []string{demo.ChangelogTool}, "fs": map[string]any{"write": []string{"${project}"}}},
	}}
	for _, e := range processes {
		manifests = append(manifests, map[string]any{
			"name": e.name, "description": e.description, "exec": self, "args": []string{"demo", "extension", e.name},
		})
	}
	for _, m := range manifests {
		if err := p.installOne(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (p *place) source(name string) string { return filepath.Join(p.root, "extensions", name) }

func (p *place) installOne(ctx context.Context, manifest map[string]any) error {
	manifest["version"] = version.Number
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	source := p.source(manifest["name"].(string))
	if err := write(filepath.Join(source, "extension.json"), string(text)+"\n"); err != nil {
		return err
	}
	if _, err := install.Install(ctx, install.Options{Home: p.home, CWD: p.root}, source); err != nil {
		return fmt.Errorf("installing the demo's extension %s: %w", manifest["name"], err)
	}
	return nil
}

// check runs the project's test, so that success is not taken on anyone's word.
func (p *place) check(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir = p.project
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test ./... still fails in %s: %w\n%s", p.project, err, out)
	}
	return nil
}
