package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/schemas"
)

// folder makes an extension's folder from pairs of name and content. A name
// that ends in a slash makes a folder, "name*" an executable file.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		name, content := files[i], files[i+1]
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "*") {
			name, mode = strings.TrimSuffix(name, "*"), 0o755
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), mode))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoadReadsEveryField(t *testing.T) {
	dir := folder(t, FileName, "\ufeff{\r\n"+` // comments are fine
		"$schema": "x", "name": "Weather", "version": "1.2.0", "exec": "./weather", "args": ["--mode", "daemon"],
		"language": "go", "description": "current weather", "skills": ["skills"], "enabled": false,
		"permissions": {"net": {"connect": ["api.example.com:443"]}}, "limits": {"memory": "64MiB"},
		"contributes": {"tools": [{"name": "weather", "schema": {"type": "object"}}]},
		"env": {"A": "", "B": "x"}, "minZot": "0.1.0", "homepage": "https://example.com", "license": "MIT", }`,
		"skills/x/SKILL.md", "x")
	m, warnings, err := Load(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	m.Text = nil
	want := &Manifest{
		Dir: dir, File: filepath.Join(dir, FileName), Name: "Weather", Version: "1.2.0", Exec: "./weather",
		Args: []string{"--mode", "daemon"}, Language: "go", Description: "current weather", Skills: []string{"skills"},
		Transport: Subprocess, Env: map[string]string{"A": "", "B": "x"}, MinZot: "0.1.0", Homepage: "https://example.com",
		License:     "MIT",
		Contributes: Contributes{Declared: true, Tools: []DeclaredTool{{Name: "weather", Schema: []byte(`{"type":"object"}`)}}},
		Permissions: []byte(`{"net":{"connect":["api.example.com:443"]}}`), Limits: []byte(`{"memory":"64MiB"}`),
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

func TestKindsOfBundle(t *testing.T) {
	tests := []struct {
		name      string
		files     []string
		kind      Kind
		transport Transport
		fault     string
	}{
		{"protocol", []string{FileName, `{"name":"a","exec":"./a"}`}, Protocol, Subprocess, ""},
		{"module", []string{FileName, `{"name":"a","exec":"a.WASM"}`}, Protocol, WASI, ""},
		{"chosen transport", []string{FileName, `{"name":"a","exec":"a.wasm","transport":"subprocess"}`}, Protocol, Subprocess, ""},
		{"theme", []string{FileName, `{"name":"a"}`, "theme.json", "{}"}, ThemeOnly, "", ""},
		{"theme in its folder", []string{FileName, `{"name":"a"}`, "themes/theme.json", "{}"}, ThemeOnly, "", ""},
		{"skills", []string{FileName, `{"name":"a","skills":["s"]}`, "s/", ""}, SkillOnly, "", ""},
		{"program with theme and skills", []string{FileName, `{"name":"a","exec":"x","skills":["s"]}`, "theme.json", "{}", "s/", ""}, Protocol, Subprocess, ""},
		{"nothing", []string{FileName, `{"name":"a"}`}, "", "", `1:1: "exec" is missing; add "exec"`},
		{"empty exec", []string{FileName, `{"name":"a", "exec":" "}`}, "", "", `1:21: "exec" is missing`},
		{"no skills", []string{FileName, `{"name":"a","skills":[]}`}, "", "", `"exec" is missing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := Load(folder(t, tt.files...))
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("got %v, want %s", err, tt.fault)
				}
				return
			}
			must(t, err)
			if m.Kind() != tt.kind || m.Transport != tt.transport {
				t.Errorf("got %s over %q, want %s over %q", m.Kind(), m.Transport, tt.kind, tt.transport)
			}
		})
	}
}

func TestFaultsNamePlaceValueAndRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"name\": \"../../x\"}":                          `:2:11: name "../../x" must begin with a letter or digit (ZP080); use 1 to 64`,
		`{"name":"a/b","exec":"x"}`:                            `:1:9: name "a/b" may hold only letters`,
		`{"name":"","exec":"x"}`:                               `:1:9: name "" is empty`,
		`{"name":"Con","exec":"x"}`:                            `:1:9: name "Con" is the name of a device on Windows (ZP080); choose another name`,
		`{"exec":"x"}`:                                         `:1:1: "name" is missing; add it`,
		`{"name":"a","exec":["x"]}`:                            `:1:20: exec must be a string, not a list`,
		`{"name":"a","exec":"x","enabled":"no"}`:               `:1:34: enabled must be true or false or null, not a string`,
		`{"name":"a","exec":"x","name":"b"}`:                   `:1:24: key "name" is there twice, first in line 1`,
		`{"name":"a","exec":"x","skills":["../s"]}`:            `:1:34: skill path "../s" leads out of the extension's folder (ZP082); write a relative path`,
		`{"name":"a","exec":"x","skills":["/etc"]}`:            `:1:34: skill path "/etc" leads out`,
		`{"name":"a","exec":"x","skills":["s\\t"]}`:            `:1:34: skill path "s\\t" leads out`,
		`{"name":"a","exec":"x","minZot":"newest"}`:            `:1:33: minZot "newest" is not a version; write it like "0.1.0"`,
		`{"name":"a","exec":"x","transport":"carrier"}`:        `:1:36: transport must be "subprocess" or "wasi", not "carrier"`,
		`{"name":"a" "exec":"x"}`:                              `:1:13: invalid character '"' after object value (expecting ',' or '}'); put a comma`,
		"":                                                     `:1:1: the file is empty`,
		`"x"`:                                                  `:1:1: the document must be an object, not a string`,
		`{"name":"a","exec":"x","env":{"A":1}}`:                `:1:35: env.A must be a string, not a number`,
		`{"name":"` + strings.Repeat("a", 65) + `"}`:           `has 65 characters; 64 are allowed`,
		`{"name":"a","exec":"x","contributes":{"tools":[{}]}}`: `:1:48: "name" is missing in contributes.tools[0]`,
	} {
		dir := folder(t, FileName, text)
		m, _, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, FileName)+want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		var faults *schemas.FileError
		if m != nil || !errors.As(err, &faults) {
			t.Errorf("%s: %T", text, err)
		}
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	m, warnings, err := Load(folder(t, FileName, `{"name":"a","exec":"x","Exec":"y","permissions":{"fly":true},"enabled":null}`))
	must(t, err)
	if m.Exec != "x" || !m.Enabled {
		t.Errorf("exec %q, enabled %v", m.Exec, m.Enabled)
	}
	if len(warnings) != 2 || warnings[0].Remedy != `did you mean "exec"?` || warnings[1].Pointer != "/permissions/fly" {
		t.Errorf("warnings %v", warnings)
	}
}

func TestMissingManifestNamesTheFileExpected(t *testing.T) {
	dir := folder(t)
	_, _, err := Load(dir)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join(dir, FileName)) {
		t.Error(err)
	}
	_, _, err = Load(filepath.Join(dir, "nope"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no extension at") {
		t.Error(err)
	}
	file := filepath.Join(folder(t, "x.py", "x"), "x.py")
	if _, _, err := Load(file); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Error(err)
	}
	if _, _, err := Load(folder(t, FileName+"/", "")); err == nil || !strings.Contains(err.Error(), "is a folder; it must be a file") {
		t.Error(err)
	}
	if _, _, err := Load(folder(t, FileName, strings.Repeat(" ", MaxSize+1))); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

func TestSkillLinkOutOfTheFolderIsRefused(t *testing.T) {
	dir := folder(t, FileName, `{"name":"a","skills":["out","in"]}`, "real/SKILL.md", "x")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip("no links here:", err)
	}
	must(t, os.Symlink("real", filepath.Join(dir, "in")))
	_, _, err := Load(dir)
	if err == nil || !strings.Contains(err.Error(), `skill path "out" is a link out`) || strings.Contains(err.Error(), `"in"`) {
		t.Error(err)
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a", "hello-py", "A.b_c-9", "0", "company", "com10", "nullable", strings.Repeat("x", 64)} {
		if err := CheckName(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".git", "-x", "a b", "a/b", `a\b`, "/abs", "C:x", "ä", "con", "COM1", "lpt9.txt", "nul.", "a.", "a\x00", strings.Repeat("x", 65)} {
		if err := CheckName(bad); err == nil {
			t.Errorf("%q was let through", bad)
		}
	}
}

func TestCheckZot(t *testing.T) {
	m := &Manifest{Name: "a", MinZot: "0.3.0"}
	for version, ok := range map[string]bool{"0.2.9": false, "0.3.0": true, "v1.0.0": true, "0.3.0-dev": true, "0.2.9-dev": false, "dev": true, "": true} {
		if err := m.CheckZot(version); (err == nil) != ok {
			t.Errorf("zot %s: %v", version, err)
		}
	}
}

func TestExecPathNamesTheTrueCause(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and #! lines are not known there")
	}
	t.Setenv("PATH", folder(t, "onpath*", "#!/bin/sh\n"))
	tests := []struct {
		name, exec, lang string
		files            []string
		want             string // part of the error, or empty
	}{
		{"program", "./run", "", []string{"run*", "#!/bin/sh\n"}, ""},
		{"folder with a space", "my dir/run", "", []string{"my dir/run*", "#!/bin/sh\n"}, ""},
		{"bare name", "onpath", "", nil, ""},
		{"missing", "./run", "", nil, "is not there; build it first"},
		{"missing go program", "./hello", "go", nil, "is not there; build it first: go build -o hello ."},
		{"misspelt", "./helo.py", "", []string{"hello.py*", "#!/bin/sh\n"}, `is not there; did you mean "hello.py"?`},
		{"folder", "./run", "", []string{"run/", ""}, "is a folder"},
		{"not executable", "./run it", "", []string{"run it", "#!/bin/sh\n"}, "is not executable; run: chmod +x '"},
		{"empty", "./run", "", []string{"run*", ""}, "is empty"},
		{"carriage return", "./run", "", []string{"run*", "#!/usr/bin/env python3\r\nx\r\n"}, `ends in a carriage return, so the system looks for "python3\r"; save it with LF`},
		{"byte order mark", "./run", "", []string{"run*", "\ufeff#!/bin/sh\n"}, "begins with a byte order mark"},
		{"no interpreter", "./run", "", []string{"run*", "#!/no/such/sh\n"}, "needs /no/such/sh, which is not there"},
		{"no interpreter in PATH", "./run", "", []string{"run*", "#!/usr/bin/env -S nosuch -x\n"}, `needs "nosuch", which is not in PATH`},
		{"bare name of a file here", "run", "", []string{"run*", "x"}, `is a bare name and not in PATH; for the file in the folder write "./run"`},
		{"bare name nowhere", "nosuch", "", nil, "is not in PATH; install it"},
		{"for another system", "./run.exe", "", []string{"run.exe*", "MZ\x90"}, "is a program for windows"},
		{"module", "a.wasm", "", []string{"a.wasm", "\x00asm\x01\x00\x00\x00"}, ""},
		{"no module", "a.wasm", "", []string{"a.wasm", "hello"}, "is not a WebAssembly module"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, append(tt.files, FileName, `{"name":"a","exec":"`+tt.exec+`","language":"`+tt.lang+`"}`)...)
			m, _, err := Load(dir)
			must(t, err)
			path, err := m.ExecPath()
			if tt.want == "" {
				if err != nil || path == "" {
					t.Errorf("got %q, %v", path, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.exec) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestBrokenLinkIsNamed(t *testing.T) {
	dir := folder(t, FileName, `{"name":"a","exec":"./run"}`)
	if err := os.Symlink("gone", filepath.Join(dir, "run")); err != nil {
		t.Skip("no links here:", err)
	}
	m, _, err := Load(dir)
	must(t, err)
	if _, err := m.ExecPath(); err == nil || !strings.Contains(err.Error(), `is a link to "gone", which is not there`) {
		t.Error(err)
	}
}

// FuzzParse: whatever the text, the answer is a manifest whose name is fit to
// be a folder, or an error that says where.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"name":"a","exec":"./a"}`, `{"name":"a","skills":["x"],"enabled":null}`, "\ufeff{}", `{"name":1}`, `{"name":"a","minZot":"1","exec":"x","contributes":{"tools":[]}}`} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _, err := parse(dir, text)
		if err == nil && (CheckName(m.Name) != nil || m.Exec == "" && len(m.Skills) == 0) {
			t.Errorf("%q gave %+v", text, m)
		}
		if err != nil && err.Error() == "" {
			t.Error("error without words")
		}
	})
}
