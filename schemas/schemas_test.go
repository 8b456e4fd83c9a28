package schemas

import (
	"encoding/json"
	"strings"
	"testing"
)

// Every embedded schema compiles, carries the id under which it is found, and
// says what each property is for: an editor shows it, and it is the manual of a
// wire.
func TestEveryEmbeddedSchemaIsSound(t *testing.T) {
	names := Names()
	if len(names) < 3 {
		t.Fatalf("Names() = %v", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, ok := Get(name)
			if !ok {
				t.Fatal("listed and not found")
			}
			raw := map[string]any{}
			if err := json.Unmarshal(text, &raw); err != nil {
				t.Fatal(err)
			}
			if raw["$id"] != ID(name) {
				t.Errorf("$id = %v, want %v", raw["$id"], ID(name))
			}
			if raw["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
				t.Errorf("$schema = %v", raw["$schema"])
			}
			compiled(name)
			describedProperties(t, raw, "")
		})
	}
}

func describedProperties(t *testing.T, node any, at string) {
	t.Helper()
	switch n := node.(type) {
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok {
			for key, p := range properties {
				schema, ok := p.(map[string]any)
				if !ok {
					continue // a property may be called "properties"
				}
				if _, ok := schema["description"].(string); !ok {
					t.Errorf("%s/properties/%s has no description", at, key)
				}
			}
		}
		for key, v := range n {
			if key != "if" && key != "not" { // these tell things apart and describe nothing
				describedProperties(t, v, at+"/"+key)
			}
		}
	case []any:
		for _, v := range n {
			describedProperties(t, v, at)
		}
	}
}

func TestReferencesLeadOnlyToEmbeddedSchemas(t *testing.T) {
	for _, url := range []string{
		"file:///etc/passwd", "https://example.com/x.json", BaseURL + "nope.schema.json",
		BaseURL + "../go.mod",
	} {
		if _, err := loadEmbedded(url); err == nil {
			t.Errorf("%s was opened", url)
		}
	}
	_, err := Compile([]byte(`{"$ref": "file:///etc/passwd"}`))
	if err == nil || !strings.Contains(err.Error(), "not embedded") {
		t.Errorf("Compile with a file reference: %v", err)
	}
}

func TestValidateNamesPlaceValueAndRemedy(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // one line for each problem
	}{
		{"good", `{"name":"a","exec":"./a"}`, ""},
		{"comments and trailing commas", "{\n // why\n \"name\": \"a\", /* x */\n}", ""},
		{"byte order mark and CRLF", "\ufeff{\r\n  \"name\": 5,\r\n}", `2:11: name must be a string, not a number; write it in quotes: "5"`},
		{"unknown key", "{\"name\":\"a\",\n  \"excec\": \"x\"}", `2:3: unknown key "excec"; did you mean "exec"?`},
		{"wrong case", `{"name":"a", "Exec": "x"}`, `1:14: unknown key "Exec"; did you mean "exec"?`},
		{"two unknown keys", "{\"name\":\"a\", \"zzzzzzzz\": 1,\n\"verison\": 2}",
			`1:14: unknown key "zzzzzzzz"; remove it, or correct the spelling` + "\n" + `2:1: unknown key "verison"; did you mean "version"?`},
		{"duplicate", "{\"name\":\"a\",\n\"name\":\"b\"}", `2:1: key "name" is there twice, first in line 1; keep one of the two`},
		{"faults in both of a duplicate", "{\"name\":5, \"nam\":1,\n\"name\":\"a\", \"args\":\"--x\", \"exec\":\"./a\", \"args\":[7]}",
			`1:9: name must be a string, not a number; write it in quotes: "5"` + "\n" + `1:12: unknown key "nam"; did you mean "name"?` + "\n" +
				`2:1: key "name" is there twice, first in line 1; keep one of the two` + "\n" + `2:20: args must be a list, not a string; write it as a list: ["--x"]` + "\n" +
				`2:41: key "args" is there twice, first in line 2; keep one of the two` + "\n" + `2:49: args[0] must be a string, not a number; write it in quotes: "7"`},
		{"missing", `{}`, `1:1: "name" is missing; add it, for example "name": "weather"`},
		{"list wanted", `{"name":"a","args":"--x"}`, `1:20: args must be a list, not a string; write it as a list: ["--x"]`},
		{"element", `{"name":"a","args":["x",7]}`, `1:25: args[1] must be a string, not a number; write it in quotes: "7"`},
		{"boolean in quotes", `{"name":"a","enabled":"false"}`, `1:23: enabled must be true or false or null, not a string; write false without quotes`},
		{"choice", `{"name":"a","transport":"wasm"}`, `1:25: transport must be "subprocess" or "wasi", not "wasm"; did you mean "wasi"?`},
		{"pattern", `{"name":"../x"}`, `1:9: name must match ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$, not "../x"; use 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit`},
		{"name of a variable", `{"name":"a","env":{"A-B":"x"}}`, `1:20: key "A-B" in env must match ^[A-Za-z_][A-Za-z0-9_]*$; use letters, digits and underscores, and begin with none of the digits`},
		{"through a reference", `{"name":"a","permissions":{"fs":{"reed":["/"]}}}`, `1:34: unknown key "reed" in permissions.fs; did you mean "read"?`},
		{"best branch of a choice", `{"name":"a","limits":{"memory":0}}`, `1:32: limits.memory must be at least 1, not 0`},
		{"other branch of a choice", `{"name":"a","limits":{"memory":"lots"}}`, `1:32: limits.memory must match ^[1-9][0-9]*(\\.[0-9]+)? ?([kKMGT]i?)?B?$, not "lots"; write bytes, or a number with a unit such as 64MiB`},
		{"no branch of a choice", `{"name":"a","limits":{"memory":true}}`, `1:32: limits.memory must be a whole number or a string, not true or false; write it in quotes: "true"`},
		{"not an object", `[1]`, `1:1: the document must be an object, not a list`},
		{"key with a slash and a space", `{"name":"a","a/b c":1}`, `1:13: unknown key "a/b c"; remove it, or correct the spelling`},
		{"column counts characters", `{"name":"a","description":"äöü€", "zz":1}`, `1:35: unknown key "zz"; remove it, or correct the spelling`},
		{"no comma", "{\"name\":\"a\"\n\"exec\":\"x\"}", `2:1: invalid character '"' after object value (expecting ',' or '}'); put a comma between the two values`},
		{"cut off", `{"name":"a`, `1:11: the file ends in the middle of a value; close what is open with } ] or "`},
		{"empty", " \n", `1:1: the file is empty; start with {}`},
		{"UTF-16", "\xff\xfe{\x00", `1:1: the file is UTF-16; save it as UTF-8`},
		{"not UTF-8", "{\"name\":\"\xff\"}", `1:10: byte 0xff is not UTF-8; save the file as UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			for _, p := range Validate("manifest", []byte(tt.text)) {
				lines = append(lines, p.String())
			}
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDeepNestingIsRefusedBeforeItIsParsed(t *testing.T) {
	text := strings.Repeat("[", 5<<20)
	problems := Validate("manifest", []byte(text))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "nested more than 256 deep") || problems[0].Column != 257 {
		t.Errorf("got %v", problems)
	}
	inside := `{"name":"` + strings.Repeat("[", 1000) + `"/*` + strings.Repeat("[", 1000) + `*/}`
	if _, problems := Parse([]byte(inside)); len(problems) > 0 {
		t.Errorf("brackets in strings and comments count: %v", problems)
	}
}

func TestChoiceFollowsItsConstant(t *testing.T) {
	schema, err := Compile([]byte(`{"oneOf": [
		{"properties": {"type": {"const": "a"}, "x": {"type": "string"}}, "required": ["type", "x", "y"]},
		{"properties": {"type": {"const": "b"}, "x": {"type": "number"}}, "required": ["type"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	problems := schema.Validate(map[string]any{"type": "a", "x": json.Number("1")})
	if len(problems) != 2 || problems[0].Message != `"y" is missing` || problems[1].Message != "x must be a string, not a number" {
		t.Errorf("got %v", problems)
	}
}

func TestSecretsStayOutOfMessages(t *testing.T) {
	schema, err := Compile([]byte(`{"properties":{"key":{"writeOnly":true,"pattern":"^sk-"}, "kind":{"writeOnly":true,"enum":["x"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range schema.Validate(map[string]any{"key": "hunter2", "kind": "hunter2"}) {
		if strings.Contains(p.String(), "hunter2") {
			t.Errorf("value shown: %s", p)
		}
	}
}

func TestRenderPointsAtTheFault(t *testing.T) {
	text := []byte("\ufeff{\r\n\t\"näme\": \"a\", \"exec\": 5\r\n}")
	problems := Validate("manifest", text)
	var exec Problem
	for _, p := range problems {
		if p.Pointer == "/exec" {
			exec = p
		}
	}
	got := Render(exec, "extension.json", text)
	want := "extension.json:2:23: exec must be a string, not a number\n" +
		"    2 |  \"näme\": \"a\", \"exec\": 5\n" +
		"      |                       ^\n" +
		"  help: write it in quotes: \"5\"\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRenderIsSafeAndBounded(t *testing.T) {
	text := []byte(`{"name": "` + strings.Repeat("x", 5000) + "\u202e" + `", "oops": 1}`)
	for _, p := range Validate("manifest", text) {
		out := Render(p, "a\x1b[2Jb", text)
		if strings.ContainsAny(out, "\x1b\u202e") || len(out) > 1000 {
			t.Errorf("rendered %d bytes: %q", len(out), out)
		}
	}
}

func TestSpanFindsBytesOfTheOriginal(t *testing.T) {
	text := []byte("\ufeff{ /* c */ \"enabled\" : true , }")
	doc, _ := Parse(text)
	start, end, ok := doc.Span("/enabled")
	if !ok || string(text[start:end]) != "true" {
		t.Errorf("Span = %d, %d, %v", start, end, ok)
	}
	if _, _, ok := doc.Span("/nope"); ok {
		t.Error("found what is not there")
	}
	if string(doc.Standard()) != `{         "enabled" : true   }` {
		t.Errorf("Standard = %q", doc.Standard())
	}
}

func TestNearest(t *testing.T) {
	known := []string{"name", "exec", "args", "description"}
	for word, want := range map[string]string{"nmae": "name", "NAME": "name", "desciption": "description", "arg": "args", "zebra": "", "x": ""} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDotted(t *testing.T) {
	for pointer, want := range map[string]string{"": "", "/a/b": "a.b", "/args/2": "args[2]", "/models/gpt-4.1/cost": `models["gpt-4.1"].cost`, "/a~1b": `["a/b"]`} {
		if got := Dotted(pointer); got != want {
			t.Errorf("Dotted(%q) = %q, want %q", pointer, got, want)
		}
	}
}

// FuzzValidate feeds the checker what strangers may send: it never fails to
// answer, and places lie inside the text.
func FuzzValidate(f *testing.F) {
	for _, seed := range []string{`{"name":"a","exec":"./a"}`, "\ufeff{\r\n}", `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":1,"a":2}`, `{"name":"a","limits":{"memory":[]}}`, "{/*", `{"a/b~":1}`, `{"%41":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Count(string(text), "\n") + 1
		for _, p := range Validate("manifest", text) {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Errorf("problem %+v of %q", p, text)
			}
			Render(p, "f", text)
		}
	})
}
