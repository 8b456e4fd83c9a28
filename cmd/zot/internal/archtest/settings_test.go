package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config"
)

// A setting that nothing reads is a promise that nobody keeps: every field of
// config.Config is named by some code outside of package config.
func TestEverySettingIsRead(t *testing.T) {
	read := map[string]bool{}
	for _, file := range sources(t) {
		if strings.HasPrefix(file, "config/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(imported(parsed.Imports), "config") || strings.HasPrefix(file, "cmd/zot/internal/") {
			selectors(parsed, read)
		}
	}
	for _, field := range leaves(reflect.TypeFor[config.Config](), "Config") {
		if !read[field] {
			t.Errorf("nothing reads the setting in %s: make it take effect, or take it out of config/keys.go", field)
		}
	}
}

// leaves lists the fields that hold values, each by the name of the struct it
// is in: "UI.History".
func leaves(typ reflect.Type, parent string) []string {
	var out []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		elem := f.Type
		for elem.Kind() == reflect.Map || elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Struct {
			out = append(out, leaves(elem, elem.Name())...)
			continue
		}
		out = append(out, parent+"."+f.Name)
	}
	return out
}

// selectors notes the fields that a file names, by the name of the struct they
// are in as far as it shows: cfg.Theme, cfg.UI.History, and t.Hello after
// t := cfg.Timeouts.
func selectors(file *ast.File, read map[string]bool) {
	stands := map[string]string{"cfg": "Config", "Config": "Config"}
	nameOf := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.SelectorExpr:
			return e.Sel.Name
		case *ast.Ident:
			return e.Name
		case *ast.IndexExpr:
			if s, ok := e.X.(*ast.SelectorExpr); ok {
				return strings.TrimSuffix(s.Sel.Name, "s") // Providers[name] is a Provider
			}
		}
		return ""
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				if to := nameOf(n.Rhs[i]); to != "" {
					stands[nameOf(n.Lhs[i])] = to
				}
			}
		case *ast.RangeStmt:
			if s, ok := n.X.(*ast.SelectorExpr); ok && n.Value != nil {
				stands[nameOf(n.Value)] = strings.TrimSuffix(s.Sel.Name, "s")
			}
		case *ast.Field:
			if star, ok := n.Type.(*ast.StarExpr); ok {
				for _, name := range n.Names {
					stands[name.Name] = nameOf(star.X)
				}
			}
		case *ast.SelectorExpr:
			of := nameOf(n.X)
			read[of+"."+n.Sel.Name] = true
			if to := stands[of]; to != "" {
				read[to+"."+n.Sel.Name] = true
			}
		}
		return true
	})
}
