package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

func TestABareModuleGetsAFolder(t *testing.T) {
	home, from := t.TempDir(), t.TempDir()
	write(t, from, "My Tool.wasm", "\x00asm\x01\x00\x00\x00")
	var asked string
	o := Options{Home: home, CWD: from, Greet: func(_ context.Context, module []byte) (Greeting, error) {
		asked = string(module)
		return Greeting{"tool", "1.2.0"}, nil
	}}
	got, err := Install(t.Context(), o, "My Tool.wasm")
	must(t, err)
	if got.Name != "tool" || got.Version != "1.2.0" || got.Origin.Kind != FromModule || asked != "\x00asm\x01\x00\x00\x00" {
		t.Errorf("%+v, asked %q", got, asked)
	}
	text, err := os.ReadFile(filepath.Join(got.Dir, "extension.json"))
	must(t, err)
	want := `{
  "name": "tool",
  "version": "1.2.0",
  "exec": "./My Tool.wasm",
  "description": "Installed from the module My Tool.wasm."
}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}

	// A newer file of that name is an update, also of what it says of itself.
	write(t, from, "My Tool.wasm", "\x00asm\x01\x00\x00\x00\x00\x00")
	o.Greet = func(context.Context, []byte) (Greeting, error) { return Greeting{"tool", "1.3.0"}, nil }
	installed := discovery.Find(discovery.Options{Home: home}).Candidates[0]
	got, err = Update(t.Context(), UpdateOptions{Options: o}, installed)
	must(t, err)
	if !got.Changed || got.Version != "1.3.0" {
		t.Errorf("update: %+v", got)
	}
	o.Greet = func(context.Context, []byte) (Greeting, error) { return Greeting{"other", "1.3.0"}, nil }
	write(t, from, "My Tool.wasm", "\x00asm\x01\x00\x00\x00\x00\x00\x00")
	if _, err = Update(t.Context(), UpdateOptions{Options: o}, installed); err == nil || !strings.Contains(err.Error(), `called "other"`) {
		t.Errorf("a module of another name: %v", err)
	}
}

func TestABareModuleThatCannotBeInstalled(t *testing.T) {
	good := "\x00asm\x01\x00\x00\x00"
	says := func(g Greeting, err error) func(context.Context, []byte) (Greeting, error) {
		return func(context.Context, []byte) (Greeting, error) { return g, err }
	}
	for _, test := range []struct {
		file, content string
		greet         func(context.Context, []byte) (Greeting, error)
		want          string
	}{
		{"x.wasm", "#!/bin/sh\n", nil, "is not a WebAssembly module (ZP085); build it for wasip1"},
		{"x.wasm", good, says(Greeting{}, errors.New("it ended before")), "x.wasm for its name: it ended before"},
		{"x.wasm", good, says(Greeting{Name: "../x"}, nil), "must begin with a letter"},
		{"-.wasm", good, nil, "must begin with a letter"},
		{"my tool.wasm", good, nil, "may hold only letters"},
	} {
		home, from := t.TempDir(), t.TempDir()
		write(t, from, test.file, test.content)
		_, err := Install(t.Context(), Options{Home: home, CWD: from, Greet: test.greet}, "./"+test.file)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.file, err, test.want)
		}
		entries, _ := filepath.Glob(filepath.Join(home, "extensions", "*"))
		if len(entries) > 0 {
			t.Errorf("%s: left %q", test.file, entries)
		}
	}
	home, from := t.TempDir(), t.TempDir()
	write(t, from, "plain-name.wasm", good)
	if got, err := Install(t.Context(), Options{Home: home, CWD: from}, "plain-name.wasm"); err != nil || got.Name != "plain-name" {
		t.Errorf("named by its file: %+v, %v", got, err)
	}
	if _, err := Install(t.Context(), Options{Home: home, CWD: from}, "plain-name.wasm"); !errors.Is(err, ErrExists) {
		t.Errorf("a second time: %v", err)
	}
}
