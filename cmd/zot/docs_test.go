package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The documentation names the tests that show a guarantee: each of these is there.
func TestDocumentedTestsExist(t *testing.T) {
	const root = "../.."
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, m := range function.FindAllSubmatch(text, -1) {
				there[string(m[1])] = true
			}
			return err
		case strings.HasSuffix(path, ".txtar"):
			there[filepath.Base(filepath.Dir(path))+"/"+d.Name()] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*|[\\w-]+/[\\w-]+\\.txtar)`")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			if name := string(m[1]); !there[name] {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(page), name)
			}
		}
	}
}
