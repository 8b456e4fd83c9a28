package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSource(t *testing.T) {
	cwd := t.TempDir()
	for _, dir := range []string{"ext", "with#hash", "my repo.git", "ext.git"} {
		must(t, os.MkdirAll(filepath.Join(cwd, dir), 0o755))
	}
	write(t, filepath.Join(cwd, "ext.git"), "extension.json", "{}")
	in := func(name string) string { return filepath.Join(cwd, name) }
	for text, want := range map[string]Source{
		"ext":                     {Kind: FromFolder, Path: in("ext")},
		"./ext/":                  {Kind: FromFolder, Path: in("ext")},
		in("ext"):                 {Kind: FromFolder, Path: in("ext")},
		"with#hash":               {Kind: FromFolder, Path: in("with#hash")},
		"ext.git":                 {Kind: FromFolder, Path: in("ext.git")}, // a folder that holds an extension
		"my repo.git":             {Kind: FromGit, Path: in("my repo.git")},
		"my repo.git//a/b#v1":     {Kind: FromGit, Path: in("my repo.git"), Subdir: "a/b", Ref: "v1"},
		"https://h.example/a/b/c": {Kind: FromGit, URL: "https://h.example/a/b/c"},
		"https://h.example:8443/g/sub/r.git//x/y/#main": {Kind: FromGit, URL: "https://h.example:8443/g/sub/r.git", Subdir: "x/y", Ref: "main"},
		"ssh://git@h.example:22/a.git#feature/x":        {Kind: FromGit, URL: "ssh://git@h.example:22/a.git", Ref: "feature/x"},
		"git@h.example:a/b.git//sub":                    {Kind: FromGit, URL: "git@h.example:a/b.git", Subdir: "sub"},
		"HTTPS://h.example/a#0123abc":                   {Kind: FromGit, URL: "HTTPS://h.example/a", Ref: "0123abc"},
	} {
		got, err := ParseSource(text, cwd)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if again, err := ParseSource(got.String(), "/"); err != nil || again != got {
			t.Errorf("%q does not come back from %q: %+v, %v", text, got.String(), again, err)
		}
	}
}

func TestSourcesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "is empty",
		"--upload-pack=touch /tmp/x":        "begins with a hyphen",
		"ext::sh -c touch% x":               "names a git helper, which is a program to run",
		"fd::17":                            "names a git helper",
		"git://h.example/a.git":             "neither encrypts nor proves who answers (ZP085); use https://",
		"http://h.example/a.git":            "neither encrypts",
		"ftp://h.example/a":                 "uses ftp://",
		"file:///etc":                       "give the path itself",
		"https:///a":                        "names no host",
		"https://h.example":                 "names no repository",
		"ssh://-oProxyCommand=x/a":          "names no host",
		"git@-oProxyCommand=x:a":            "begins with a hyphen",
		"git@h:-x":                          "begins with a hyphen",
		"https://h.example/a#":              "ends in # with nothing after it",
		"https://h.example/a#--upload-pack": "is no name of a branch",
		"https://h.example/a#a..b":          "is no name of a branch",
		"https://h.example/a#x y":           "is no name of a branch",
		"https://h.example/a//../b":         `selects the folder "../b", which is not inside`,
		"https://h.example/a//b/../../c":    "which is not inside",
		"./nope.git":                        "is not there",
		"nope":                              "is not a folder",
		"owner/repo":                        "is not a folder",
		"a\nb":                              "control character",
		"https://me:hunter2@h.example/a":    "holds a password, which would be written to disk",
	} {
		s, err := ParseSource(text, t.TempDir())
		var refused *SourceError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v; want %s", text, s, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password in the message: %v", err)
		}
	}
}

// FuzzParseSource: what is let through names a kind, and cannot be taken for an
// option.
func FuzzParseSource(f *testing.F) {
	for _, seed := range []string{"a", "https://h/a//b#c", "git@h:a", "ext::x", "-x", "ssh://h/a", "x.git#y"} {
		f.Add(seed)
	}
	cwd := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text, cwd)
		if err != nil {
			return
		}
		for _, part := range []string{s.Address(), s.Ref, s.Subdir} {
			if strings.HasPrefix(part, "-") && part == s.Address() || strings.HasPrefix(s.Ref, "-") || strings.Contains(s.Address(), "::") && s.URL != "" && helperAddress.MatchString(s.URL) {
				t.Errorf("%q gave %+v", text, s)
			}
		}
		if s.Subdir != "" && !filepath.IsLocal(filepath.FromSlash(s.Subdir)) {
			t.Errorf("%q selects %q", text, s.Subdir)
		}
	})
}
