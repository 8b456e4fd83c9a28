package schemas

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// schemaOf tells by a file's name what it must hold.
var schemaOf = map[string]string{
	"extension.json": "manifest", "theme.json": "theme", "extensions.lock.json": "lock", "config.json": "config",
	"policy.tests.json": "policy-tests",
}

// Every example file in the repository is a good one.
func TestExampleFilesAreGood(t *testing.T) {
	seen := map[string]int{}
	check := func(path, schema string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Validate(schema, data) {
			t.Errorf("%s:%s", path, p)
		}
		seen[schema]++
	}
	for _, root := range []string{"../examples", "../packages", "../cmd/zot/internal/democmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			if schema := schemaOf[d.Name()]; schema != "" {
				check(path, schema)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	themes, err := filepath.Glob("../runtime/theme/builtin/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range themes {
		check(path, "theme")
	}
	for _, schema := range []string{"manifest", "theme", "config"} {
		if seen[schema] == 0 {
			t.Errorf("no example of %s was found", schema)
		}
	}
}
