package config_test

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/schemas"
)

var update = flag.Bool("update", false, "write the generated files")

func TestSchemaIsCurrent(t *testing.T) {
	const file = "../schemas/config.schema.json"
	if *update {
		if err := os.WriteFile(file, config.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(config.Schema()) {
		t.Error("schemas/config.schema.json is not what the settings are; run: go test ./config -run TestSchemaIsCurrent -update")
	}
}

// sample gives a good value and a bad one for a key, as JSON.
func sample(k config.Key) (good, bad string) {
	if len(k.Enum) > 0 {
		return `"` + k.Enum[len(k.Enum)-1] + `"`, `"none of them"`
	}
	switch k.Type {
	case config.Bool:
		return "true", `"true"`
	case config.Int:
		b, _ := json.Marshal(k.Max)
		return string(b), string(b) + "0"
	case config.Number:
		return "0.5", "-1"
	case config.Duration:
		return `"` + time.Duration(k.Max).String() + `"`, `"soon"`
	case config.Bytes:
		return `"1MiB"`, "-1"
	case config.URL:
		return `"https://example.org/v1"`, `"example.org"`
	case config.List, config.PathList:
		return `["a"]`, `"a"`
	default:
		return `"text"`, "5"
	}
}

// Schema and reader must say the same of every setting, good and bad.
func TestSchemaAndReaderAgree(t *testing.T) {
	for _, k := range config.Keys() {
		layer := config.User
		if k.Name == "home" {
			layer = config.Managed
		}
		good, bad := sample(k)
		for text, want := range map[string]bool{good: true, bad: false} {
			file := nested(strings.Split(strings.ReplaceAll(k.Name, "*", "a.b"), "."), text)
			w := newWorld(t)
			w.write(layer, file)
			s := w.load()
			if ok := len(s.Problems) == 0; ok != want {
				t.Errorf("reading %s: problems %v", file, s.Problems)
			}
			if problems := schemas.Validate("config", []byte(file)); (len(problems) == 0) != want {
				t.Errorf("checking %s: problems %v", file, problems)
			}
		}
	}
}

// nested writes the JSON of one setting; a star is the one name "a.b".
func nested(path []string, value string) string {
	for i := len(path) - 1; i >= 0; i-- {
		name := path[i]
		if name == "b" && i > 0 && path[i-1] == "a" {
			name = "a.b"
			i--
		}
		value = `{"` + name + `": ` + value + `}`
	}
	return value
}

// Every field of Config is the target of a setting, and a setting reaches it.
func TestEveryFieldHasASetting(t *testing.T) {
	w := newWorld(t)
	for _, k := range config.Keys() {
		if k.Name == "home" {
			continue
		}
		good, _ := sample(k)
		var v any
		if err := json.Unmarshal([]byte(good), &v); err != nil {
			t.Fatal(err)
		}
		if k.Type == config.Int {
			v = k.Max
		}
		path := strings.Split(strings.ReplaceAll(k.Name, "*", "any"), ".")
		if err := config.Set(w.opts.Home, w.path(config.User), path, v); err != nil {
			t.Fatal(err)
		}
	}
	s := w.load()
	w.wantProblems(s)
	walk(t, "Config", reflect.ValueOf(s.Config))
}

func walk(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			t.Errorf("%s was not set by any setting", name)
			return
		}
		if v.Elem().Kind() == reflect.Struct {
			walk(t, name, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Map:
		if v.Len() == 0 {
			t.Errorf("%s was not set by any setting", name)
		}
		for _, k := range v.MapKeys() {
			walk(t, name+"["+k.String()+"]", v.MapIndex(k))
		}
	default:
		if v.IsZero() {
			t.Errorf("%s was not set by any setting", name)
		}
	}
}

func TestVariablesDoNotCollide(t *testing.T) {
	seen := map[string]string{}
	for _, k := range config.Keys() {
		if name := k.EnvName(); name != "" {
			if other := seen[name]; other != "" {
				t.Errorf("%s sets both %s and %s", name, other, k.Name)
			}
			seen[name] = k.Name
		}
		if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: the description %q is not a sentence", k.Name, k.Doc)
		}
		numeric := k.Type == config.Int || k.Type == config.Number || k.Type == config.Duration || k.Type == config.Bytes
		if numeric && k.Max <= k.Min {
			t.Errorf("%s has no bounds", k.Name)
		}
	}
	for name, key := range map[string]string{"ZOT_BASE_URL": "baseURL", "ZOT_TIMEOUTS_AUTO_READY": "timeouts.autoReady", "ZOT_CA_FILE": "caFile"} {
		if seen[name] != key {
			t.Errorf("%s sets %q, want %q", name, seen[name], key)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	o := config.Options{ManagedDir: dir + "/m", ProjectRoot: dir + "/p", ProjectTrusted: true, Environ: os.Environ(),
		CheckOwner: func(string) error { return nil }}
	for _, f := range []string{"m/config.json", "p/.zot/config.json", "p/.zot/local/config.json"} {
		path := dir + "/" + f
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
			b.Fatal(err)
		}
		text := "{\n" + `// a comment
			"model": "m", "theme": "dark", "+tools": ["a", "b"], "timeouts": {"hello": "20s", "tool": 90},
			"models": {"m-1.0": {"cost": {"input": 1, "output": 2}, "contextWindow": 200000}},
			"policy": {"mode": "pinned", "rules": [{"id": "r", "decision": "deny", "match": {"name": "x"}}]}` + "\n}\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if s, err := config.Load(o); err != nil || len(s.Problems) > 0 {
			b.Fatal(err, s.Problems)
		}
	}
}
