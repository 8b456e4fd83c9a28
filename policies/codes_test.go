package policies_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// constants lists those of policies.go whose names begin with prefix, by value.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "policies.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, prefix) && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				found[strings.Trim(lit.Value, `"`)] = spec.Names[0].Name
			}
		}
		return true
	})
	if len(found) < 5 {
		t.Fatalf("found %v", found)
	}
	return found
}

func manual(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/%s has no section %q", page, heading)
	}
	before, _, _ := strings.Cut(after, "\n## ")
	return before
}

// Each code and exit status is in the manual, and the manual has no others.
func TestCodesAreInTheManual(t *testing.T) {
	for _, c := range []struct{ prefix, heading, form string }{
		{"Code", "Codes", `ZP\d{3}`}, {"Exit", "Where nobody can be asked", `(?m)^\| (\d{2}) \|`},
	} {
		known := constants(t, c.prefix)
		var listed []string
		for _, m := range regexp.MustCompile(c.form).FindAllStringSubmatch(manual(t, "policy.md", c.heading), -1) {
			listed = append(listed, m[len(m)-1])
		}
		for value, name := range known {
			if !slices.Contains(listed, value) {
				t.Errorf("docs/policy.md, %s: %s (%s) is missing", c.heading, value, name)
			}
		}
		for _, value := range listed {
			if known[value] == "" {
				t.Errorf("docs/policy.md, %s: %s is not in the code", c.heading, value)
			}
		}
		if c.prefix == "Code" && fmt.Sprint(listed) != fmt.Sprint(slices.Sorted(slices.Values(listed))) {
			t.Errorf("docs/policy.md, %s: the codes are out of order: %v", c.heading, listed)
		}
	}
}
