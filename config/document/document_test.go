package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/document"
)

func parse(t *testing.T, name, text string) *document.File {
	t.Helper()
	f, err := document.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPositions(t *testing.T) {
	files := map[string]string{
		"a.json": "\ufeff{\r\n  // note\r\n  \"é\": \"ü\", \"list\": [1, {\"x\": true}],\r\n}\r\n",
		"a.yaml": "\ufeff# note\r\n\r\né: ü\r\nlist: [1, {x: true}]\r\n",
	}
	want := map[string]string{
		"a.json": "é@3:3=3:8 list@3:13=3:21 x@3:26=3:31",
		"a.yaml": "é@3:1=3:4 list@4:1=4:7 x@4:12=4:15",
	}
	for name, text := range files {
		f := parse(t, name, text)
		x := f.Root.Get("list").Items[1]
		var got []string
		for _, m := range append(f.Root.Members[:2:2], x.Members...) {
			got = append(got, fmt.Sprintf("%s@%d:%d=%d:%d", m.Name, m.Pos.Line, m.Pos.Column, m.Value.Pos.Line, m.Value.Pos.Column))
		}
		if s := strings.Join(got, " "); s != want[name] {
			t.Errorf("%s: got %s, want %s", name, s, want[name])
		}
	}
}

func TestBothFormsMeanTheSame(t *testing.T) {
	j := parse(t, "a.json", `{"s":"x","n":5,"f":1.5,"b":false,"z":null,"l":["a",2],"o":{"a.b":1}}`)
	y := parse(t, "a.yaml", "s: x\nn: 0x5\nf: 1.5\nb: false\nz: ~\nl:\n- a\n- 2\no:\n  a.b: 1\n")
	if string(j.Root.JSON()) != string(y.Root.JSON()) {
		t.Errorf("JSON gives %s, YAML gives %s", j.Root.JSON(), y.Root.JSON())
	}
}

func TestBlankFilesAreEmpty(t *testing.T) {
	for _, name := range []string{"a.json", "a.yaml"} {
		for _, text := range []string{"", "\n", "\ufeff"} {
			if f := parse(t, name, text); len(f.Root.Members) != 0 {
				t.Errorf("%s %q: %d members", name, text, len(f.Root.Members))
			}
		}
	}
	parse(t, "a.json", "// only a comment\n")
	parse(t, "a.yaml", "# only a comment\n")
}

func TestSyntaxErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	tests := []struct{ name, text, want string }{
		{"a.json", "{\n  \"a\": tru\n}", "a.json:2:"},
		{"a.json", "{\n  \"é\": 1 x\n}", "a.json:2:"},
		{"a.json", "[1]", "a.json:1:1: the file must hold an object, and this is a list"},
		{"a.json", deep, "levels deep"},
		{"a.json", "{\"a\": \"\xff\"}", "a.json:1:8: not UTF-8"},
		{"a.json", "{\"a\": 1", "a.json:1:"},
		{"a.json", strings.Repeat(" ", document.MaxSize+1), "holds 1048577 bytes"},
		{"a.yaml", "a: 1\n\tb: 2\n", "a.yaml:2:"},
		{"a.yaml", "a: 1\n---\nb: 2\n", "a second document"},
		{"a.yaml", "a: &x [1]\nb:\n  <<: *x\n", `a.yaml:3:3: merge keys`},
		{"a.yaml", "a: !!binary aGk=\n", "a.yaml:1:4: the tag !!binary"},
		{"a.yaml", "? [a]\n: 1\n", "a name must be a plain string"},
		{"a.yaml", "- a\n", "must hold an object"},
	}
	for _, tt := range tests {
		_, err := document.Parse(tt.name, []byte(tt.text))
		var se *document.SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.30q: got error %v, want one with %q", tt.text, err, tt.want)
		}
	}
}

func TestAliasesCannotMultiply(t *testing.T) {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		ref := fmt.Sprintf("*a%d", i-1)
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(ref+", ", 9)+ref)
	}
	_, err := document.Parse("a.yaml", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "more than 100000 values") {
		t.Errorf("got error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.json", `{"a": [1, "x", {"b": null}], /* c */ "d": -1.5e3,}`)
	f.Add("a.yaml", "a: [1, x]\nb:\n  - c: |\n      d\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if !document.IsYAML(name) {
			name = "x.json"
		}
		file, err := document.Parse(name, []byte(text))
		if err != nil {
			return
		}
		again, err := document.Parse("again.json", file.Root.JSON())
		if err != nil {
			t.Fatalf("%s is not read back: %v", file.Root.JSON(), err)
		}
		if got, want := string(again.Root.JSON()), string(file.Root.JSON()); got != want {
			t.Errorf("read back %s, was %s", got, want)
		}
	})
}
