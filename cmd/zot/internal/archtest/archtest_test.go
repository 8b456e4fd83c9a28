package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../../../.."
	module = "github.com/patriceckhart/zot/"
	page   = "docs/architecture.md"
)

// A row of the table: a package, and what it and those below it may import. A
// name stands for the package and all below it.
type row struct {
	pkg   string
	below bool // written "pkg/*": it speaks for the packages below pkg only
	may   []string
	free  bool // it may import anything
}

// Imports point down: what a package imports of ours stands in its row.
func TestArrows(t *testing.T) {
	rows := readTable(t)
	seen := map[string]bool{}
	for pkg, imports := range ownImports(t) {
		r, ok := rowOf(rows, pkg)
		if !ok {
			t.Errorf("%s has no row for %s", page, pkg)
			continue
		}
		seen[r.pkg] = true // both of its rows
		for _, imp := range imports {
			if !r.free && !within(imp, r.pkg) && !slices.ContainsFunc(r.may, func(m string) bool { return within(imp, m) }) {
				t.Errorf("%s imports %s, which the row of %s does not allow", pkg, imp, r.pkg)
			}
		}
	}
	for _, r := range rows {
		if !seen[r.pkg] {
			t.Errorf("%s has a row for %s, and there is no such package", page, r.pkg)
		}
	}
}

// Every folder of the top level is one that the page names.
func TestTopLevel(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if !strings.Contains(string(text), "| `"+e.Name()+"` |") && !strings.Contains(string(text), "| `"+e.Name()+"/") && e.Name() != "cmd" {
			t.Errorf("%s does not name the folder %s", page, e.Name())
		}
	}
}

var (
	tableRow = regexp.MustCompile("^\\| `([^`]+)` \\| [^|]* \\| ([^|]*) \\|$")
	quoted   = regexp.MustCompile("`([^`]+)`")
)

func readTable(t *testing.T) []row {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for line := range strings.Lines(string(text)) {
		m := tableRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		r := row{free: strings.TrimSpace(m[2]) == "anything"}
		r.pkg, r.below = strings.CutSuffix(m[1], "/*")
		for _, q := range quoted.FindAllStringSubmatch(m[2], -1) {
			r.may = append(r.may, q[1])
		}
		rows = append(rows, r)
	}
	if len(rows) < 10 {
		t.Fatalf("%s has %d rows of packages; has the table changed its form?", page, len(rows))
	}
	return rows
}

// rowOf finds the row that speaks for pkg: its own, else the nearest above.
func rowOf(rows []row, pkg string) (row, bool) {
	for at := pkg; at != "."; at = path.Dir(at) {
		for _, below := range []bool{at != pkg, false} {
			for _, r := range rows {
				if r.pkg == at && r.below == below {
					return r, true
				}
			}
		}
	}
	return row{}, false
}

func within(pkg, parent string) bool { return pkg == parent || strings.HasPrefix(pkg, parent+"/") }

// ownImports lists what each package imports of this module, tests left out.
func ownImports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, file := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(file)
		all[pkg] = slices.Grow(all[pkg], 0)
		for _, imp := range imported(f.Imports) {
			if !slices.Contains(all[pkg], imp) {
				all[pkg] = append(all[pkg], imp)
			}
		}
	}
	return all
}

// sources lists the Go files of this module from its root, tests and examples
// left out.
func sources(t *testing.T) []string {
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || d.Name() == "node_modules" || rel == "examples") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		files = append(files, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func imported(specs []*ast.ImportSpec) []string {
	var own []string
	for _, s := range specs {
		if rest, ok := strings.CutPrefix(strings.Trim(s.Path.Value, `"`), module); ok {
			own = append(own, rest)
		}
	}
	return own
}
