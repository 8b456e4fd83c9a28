package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/document"
)

func TestSet(t *testing.T) {
	tests := []struct {
		name, file, before string
		path               string // joined by /
		value              any
		after              string
	}{
		{
			"a scalar, comments and comma kept", "a.json",
			"\ufeff{\r\n  // which\r\n  \"model\": \"a\", // mine\r\n  \"zzz\": [1,2],\r\n}\r\n",
			"model", "b",
			"\ufeff{\r\n  // which\r\n  \"model\": \"b\", // mine\r\n  \"zzz\": [1,2],\r\n}\r\n",
		},
		{
			"a new name after the last", "a.json",
			"{\n\t\"model\": \"a\" // mine\n}\n", "theme", "dark",
			"{\n\t\"model\": \"a\", // mine\n\t\"theme\": \"dark\"\n}\n",
		},
		{
			"a new name where commas end lines", "a.json",
			"{\n  \"model\": \"a\", // mine\n}\n", "theme", "dark",
			"{\n  \"model\": \"a\", // mine\n  \"theme\": \"dark\",\n}\n",
		},
		{
			"comments that end the object stay its end", "a.json",
			"{\r\n  \"model\": \"a\", // mine\r\n  // \"x\": 1\r\n}", "theme", "dark",
			"{\r\n  \"model\": \"a\", // mine\r\n  \"theme\": \"dark\",\r\n  // \"x\": 1\r\n}",
		},
		{
			"on one line", "a.json", `{"a":1}`, "b", []string{"x", "y"}, `{"a":1, "b": ["x", "y"]}`,
		},
		{
			"nested, made as needed", "a.json", "{\n  \"a\": 1\n}\n", "models/gpt-4.1/cost", 2,
			"{\n  \"a\": 1,\n  \"models\": {\n    \"gpt-4.1\": {\n      \"cost\": 2\n    }\n  }\n}\n",
		},
		{"into an empty object", "a.json", "{}", "a", true, "{\n  \"a\": true\n}"},
		{"into a blank file", "a.json", "", "a", true, "{\n  \"a\": true\n}\n"},
		{"into comments alone", "a.json", "// mine\n", "a", true, "// mine\n{\n  \"a\": true\n}\n"},
		{"over null", "a.json", `{"a": null}`, "a/b", 1, "{\"a\": {\n    \"b\": 1\n  }}"},

		{
			"a scalar, comment kept", "a.yaml", "# top\n\nmodel: 'a b'  # mine\nother: x\n", "model", "c",
			"# top\n\nmodel: c  # mine\nother: x\n",
		},
		{
			"a plain scalar with a hash in it", "a.yaml", "model: a#b\nx: 1\n", "model", "yes: no",
			"model: 'yes: no'\nx: 1\n",
		},
		{
			"a list over a block list", "a.yaml", "tools:\n  - a\n  - b\n\n# next\nx: 1\n", "tools", []string{"c", "d"},
			"tools: [\"c\", \"d\"]\n\n# next\nx: 1\n",
		},
		{
			"a new nested name", "a.yaml", "timeouts:\n    hello: 5s\n\n# theme\ntheme: dark\n", "timeouts/ready", "1s",
			"timeouts:\n    hello: 5s\n    ready: 1s\n\n# theme\ntheme: dark\n",
		},
		{
			"a new object", "a.yaml", "theme: dark\r\n# end\r\n", "models/gpt-4.1/cost", 2,
			"theme: dark\r\nmodels:\r\n  gpt-4.1:\r\n    cost: 2\r\n# end\r\n",
		},
		{"into a blank file", "a.yaml", "", "a/b", true, "a:\n  b: true\n"},
		{"over null", "a.yaml", "a:\nc: 1\n", "a/b", 1, "a:\n  b: 1\nc: 1\n"},
		{"in flow style", "a.yaml", "a: {b: 1} # keep\n", "a/c", 2, "a: {b: 1, c: 2} # keep\n"},
		{
			"in flow style, the rest of the file as it is", "a.yaml", "x:   [1,2]  # mine\n\nm:\n  a: {b: 'q', d: {e: 1}}   # keep\n\ny: {z:   1}\n", "m/a/d/f", "g: h",
			"x:   [1,2]  # mine\n\nm:\n  a: {b: 'q', d: {e: 1, f: 'g: h'}}   # keep\n\ny: {z:   1}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			f := parse(t, tt.file, tt.before)
			got, err := f.Set(strings.Split(tt.path, "/"), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.after)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	tests := []struct{ name, file, before, path, after string }{
		{"with its comment", "a.json", "{\n  // about a\n  \"a\": 1, // one\n  // about b\n  \"b\": 2\n}\n", "a", "{\n  // about b\n  \"b\": 2\n}\n"},
		{"apart from it, comments stay", "a.json", "{\n  // top\n\n  // about a\n  \"a\": 1, // one\n\n  \"b\": 2\n}\n", "a", "{\n  // top\n\n  \"b\": 2\n}\n"},
		{"the comment of the one before stays", "a.json", "{\r\n  \"a\": 1, // one\r\n  \"b\": 2, // two\r\n}\r\n", "b", "{\r\n  \"a\": 1, // one\r\n}\r\n"},
		{"on one line", "a.json", `{"a": 1, "b": 2, "c": 3}`, "b", `{"a": 1, "c": 3}`},
		{"the first on one line", "a.json", `{"a": 1, "b": 2}`, "a", `{ "b": 2}`},
		{"the last", "a.json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n"},
		{"an object that holds nothing else", "a.json", "{\n  \"a\": 1,\n  \"b\": {\"c\": {\"d/~\": 1}}\n}\n", "b|c|d/~", "{\n  \"a\": 1\n}\n"},
		{"a block", "a.yaml", "a: 1\ntools:\n- x\n- y\n# about b\nb: 2\n", "tools", "a: 1\n# about b\nb: 2\n"},
		{"an object that holds nothing else", "a.yaml", "a: 1\nb:\n  c: 1\n", "b|c", "a: 1\n"},
		{"in flow style", "a.yaml", "a: {b: 1, c: 2}\n", "a|b", "a: {c: 2}\n"},
		{"in flow style, the rest as it is", "a.yaml", "x:   [1,2]\n\na: {b: 1, c: 2}  # keep\n", "a|b", "x:   [1,2]\n\na: {c: 2}  # keep\n"},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			got, err := parse(t, tt.file, tt.before).Unset(strings.Split(tt.path, "|"))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.after)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	twice := parse(t, "a.json", "{\"a\": 1,\n\"a\": 2}")
	if _, err := twice.Set([]string{"a"}, 3); err == nil || !strings.Contains(err.Error(), "a.json:2:1") {
		t.Errorf("a name that is there twice: %v", err)
	}
	scalar := parse(t, "a.json", `{"a": 1}`)
	if _, err := scalar.Set([]string{"a", "b"}, 3); err == nil || !strings.Contains(err.Error(), "a.json:1:7") {
		t.Errorf("a name inside a number: %v", err)
	}
	if _, err := scalar.Set([]string{"a"}, 1); !errors.Is(err, document.ErrNoChange) {
		t.Errorf("the same value: %v", err)
	}
	if _, err := scalar.Unset([]string{"b"}); !errors.Is(err, document.ErrNoChange) {
		t.Errorf("a name that is not there: %v", err)
	}
}

// What an edit gives must always read as the old settings with the one change.
func FuzzSet(f *testing.F) {
	f.Add("a.json", `{"a": {"b": 1} /* c */, }`, "a", "b", "x")
	f.Add("a.yaml", "a:\n- 1\n# c\nb: |\n  # no comment\n  x\n", "b", "c", "y: z")
	f.Fuzz(func(t *testing.T, name, text, p1, p2, value string) {
		if !document.IsYAML(name) {
			name = "x.json"
		}
		file, err := document.Parse(name, []byte(text))
		if err != nil {
			return
		}
		for _, path := range [][]string{{p1}, {p1, p2}} {
			out, err := file.Set(path, value)
			if err != nil {
				continue
			}
			again, err := document.Parse(name, out)
			if err != nil {
				t.Fatalf("%q became unreadable: %q: %v", text, out, err)
			}
			if _, err := again.Unset(path); err != nil {
				t.Fatalf("unsetting in %q: %v", out, err)
			}
		}
	})
}
