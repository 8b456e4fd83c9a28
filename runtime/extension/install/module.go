package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// A Greeting is what a bare module says of itself when it starts.
type Greeting struct{ Name, Version string }

// moduleDir is where a bare module gets its folder, in a staging folder.
const moduleDir = "module"

// wrap makes a folder of a bare module, with a manifest that asks for nothing
// beyond the protocol: no files, no network, no environment.
func wrap(ctx context.Context, o Options, work *staging, path string) (dir string, err error) {
	code, err := readModule(path)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	m := struct {
		Name        string `json:"name"`
		Version     string `json:"version,omitempty"`
		Exec        string `json:"exec"`
		Description string `json:"description"`
	}{Name: strings.TrimSuffix(name, moduleSuffix), Exec: "./" + name, Description: "Installed from the module " + name + "."}
	if o.Greet != nil {
		said, err := o.Greet(ctx, code)
		if err != nil {
			return "", fmt.Errorf("asking %s for its name: %w", path, err)
		}
		if said.Name != "" {
			m.Name, m.Version = said.Name, said.Version
		}
	}
	if err := manifest.CheckName(m.Name); err != nil {
		return "", fmt.Errorf("%s cannot be installed: %w", path, err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	dir = work.path(moduleDir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for file, content := range map[string][]byte{name: code, manifest.FileName: append(text, '\n')} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// readModule reads a file that is a module by its first bytes.
func readModule(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	code, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(code) > MaxBytes:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, MaxBytes>>20)
	case !bytes.HasPrefix(code, []byte("\x00asm")):
		return nil, &SourceError{Source: path, Reason: "is not a WebAssembly module", Remedy: "build it for wasip1"}
	}
	return code, nil
}
