package mancmd

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/provider"
)

var update = flag.Bool("update", false, "write the tables of docs/ anew")

// woven compares the part of a page between <!-- name --> and
// <!-- end of name --> with what the code says, or writes it.
func woven(t *testing.T, page, name, want string) {
	t.Helper()
	path := filepath.Join("../../../../docs", page)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n)(.*?)(<!-- end of ` + name + ` -->)`)
	m := part.FindSubmatchIndex(data)
	if m == nil {
		t.Fatalf("docs/%s has no <!-- %s -->", page, name)
	}
	if string(data[m[4]:m[5]]) == want {
		return
	}
	if !*update {
		t.Fatalf("the %s of docs/%s are out of date; run: go test ./cmd/zot/internal/mancmd -update", name, page)
	}
	text := string(data[:m[4]]) + want + string(data[m[5]:])
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The table of settings is that of the code.
func TestSettingsOfTheManual(t *testing.T) {
	var b strings.Builder
	b.WriteString("| setting | type | default | layers | what it does |\n|---|---|---|---|---|\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, typeOf(k), defaultOf(k), layersOf(k), cell(k.Doc))
	}
	woven(t, "configuration.md", "settings", b.String())
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func typeOf(k config.Key) string {
	if len(k.Enum) > 0 {
		return "`" + strings.Join(k.Enum, "` `") + "`"
	}
	if k.Min == 0 && k.Max == 0 {
		return k.Type.String()
	}
	return k.Type.String() + ", " + bound(k, k.Min) + " to " + bound(k, k.Max)
}

func bound(k config.Key, n int64) string {
	switch k.Type {
	case config.Duration:
		return short(time.Duration(n))
	case config.Bytes:
		return config.Size(n).String()
	}
	return fmt.Sprint(n)
}

// short writes a duration without the units that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func defaultOf(k config.Key) string {
	switch v := k.Default.(type) {
	case nil:
		return ""
	case time.Duration:
		return "`" + short(v) + "`"
	case int64:
		return "`" + bound(k, v) + "`"
	default:
		return fmt.Sprintf("`%v`", v)
	}
}

func layersOf(k config.Key) string {
	switch all := strings.Join(k.Layers.Names(), ", "); all {
	case "managed, user, project, local, user-project, env, flags":
		return "anyone"
	case "managed, user, user-project, env, flags":
		return "not the project"
	default:
		return all
	}
}

// The table of providers is that of the code.
func TestProvidersOfTheManual(t *testing.T) {
	var b strings.Builder
	b.WriteString("| provider | also called | key | default model | address |\n|---|---|---|---|---|\n")
	for _, p := range provider.All() {
		if p.ID == provider.DemoID {
			continue
		}
		key := "`" + strings.Join(p.KeyEnv, "` or `") + "`"
		if !p.NeedsKey {
			key += " (none is needed)"
		}
		fmt.Fprintf(&b, "| `%s` (%s) | %s | %s | %s | %s |\n", p.ID, p.Name, code(p.Aliases...), key, code(p.DefaultModel), address(p))
	}
	woven(t, "providers.md", "providers", b.String())
}

func address(p provider.Info) string {
	if p.BaseURLEnv == "" {
		return code(p.BaseURL)
	}
	return code(p.BaseURL) + ", or `" + p.BaseURLEnv + "`"
}

func code(words ...string) string {
	joined := strings.Join(words, "`, `")
	if joined == "" {
		return ""
	}
	return "`" + joined + "`"
}

// Every link within the pages leads to a page and a heading that is there.
func TestLinksOfTheManual(t *testing.T) {
	for _, page := range []string{"configuration.md", "policy.md", "providers.md"} {
		data, err := os.ReadFile(filepath.Join("../../../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			if file == "" {
				file = page
			}
			text, err := os.ReadFile(filepath.Join("../../../../docs", file))
			if err != nil {
				if _, err := os.Stat(filepath.Join("../../../../docs", file)); err != nil {
					t.Errorf("docs/%s links to %s, which is not there", page, m[1])
				}
				continue
			}
			if heading != "" && !hasHeading(string(text), heading) {
				t.Errorf("docs/%s links to %s, and there is no such heading", page, m[1])
			}
		}
	}
}

func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !strings.HasPrefix(line, "#") || !ok {
			continue
		}
		slug := regexp.MustCompile(`[^\pL\pN -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

var fenced = regexp.MustCompile("(?ms)^```(json|yaml)\n(.*?)^```$")

// Every settings file and table in the pages can be used as it stands.
func TestFilesOfTheManual(t *testing.T) {
	for _, page := range []string{"configuration.md", "policy.md", "providers.md"} {
		data, err := os.ReadFile(filepath.Join("../../../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fenced.FindAllStringSubmatch(string(data), -1) {
			if err := usable(t, m[1], m[2]); err != nil {
				t.Errorf("docs/%s:\n%s\n%v", page, m[2], err)
			}
		}
	}
}

// usable reads a block as what it looks like.
func usable(t *testing.T, kind, text string) error {
	switch {
	case strings.Contains(text, `"tests"`):
		_, err := policies.ParseTable("policy.tests."+kind, []byte(text))
		return err
	case strings.Contains(text, `"models": [`):
		_, err := provider.Builtin().Overlay("models.json", []byte(text))
		return err
	}
	file := filepath.Join(t.TempDir(), "config."+kind)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	found, err := config.CheckFile(config.User, file, config.Options{UserHome: t.TempDir()})
	for _, p := range found.Problems {
		err = errors.Join(err, p)
	}
	parsed, parseErr := document.Parse(file, []byte(text))
	if parseErr != nil {
		return parseErr
	}
	layer := policies.User
	if strings.Contains(text, `"recommend"`) {
		layer = policies.Project
	}
	for _, p := range policies.Load([]policies.Section{{Layer: layer, File: file, Text: []byte(text), Node: parsed.Root.Get("policy")}}).Problems {
		err = errors.Join(err, p)
	}
	return err
}
