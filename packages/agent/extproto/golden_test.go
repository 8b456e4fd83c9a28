package extproto_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/packages/agent/extproto/extprototest"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	golden  = "testdata/frames"
	schemas = "../../../schemas/frames"
)

// results are the words of an outcome, as the README explains them.
var results = []string{"prompt", "insert", "display", "open_panel", "tool_prompt", "none", "error", "result",
	"cancelled", "allowed", "blocked", "rewritten", "failed"}

// Every frame of the golden conversations decodes, satisfies its schema, and
// encodes to what it was; the marks say where one of these is not so.
func TestGoldenFrames(t *testing.T) {
	schema := compiler(t)
	for _, c := range extprototest.Load(t, golden) {
		t.Run(c.Name, func(t *testing.T) {
			for _, s := range c.Steps {
				switch {
				case s.Outcome != nil && !slices.Contains(results, s.Outcome.Result):
					t.Errorf("line %d: outcome %q is none of %q", s.Line, s.Outcome.Result, results)
				case s.Raw != nil:
					checkRaw(t, s)
				case s.Frame != nil:
					checkFrame(t, s, schema)
				}
			}
		})
	}
}

func checkFrame(t *testing.T, s extprototest.Step, schema func(host bool, frameType string) *jsonschema.Schema) {
	t.Helper()
	frame, err := decode(s)
	if s.Unknown {
		if _, ok := err.(*extproto.UnknownTypeError); !ok {
			t.Errorf("line %d: decoding gave %v, want an unknown type", s.Line, err)
		}
		return
	}
	if (err != nil) != s.Undecodable {
		t.Fatalf("line %d: decoding %s: %v (undecodable: %v)", s.Line, s.Frame, err, s.Undecodable)
	}
	if err := schema(s.FromHost(), s.Type()).Validate(value(t, s.Frame)); (err != nil) != (s.Invalid != "") {
		t.Errorf("line %d: %s: schema says %v, the file says invalid=%q", s.Line, s.Frame, err, s.Invalid)
	}
	if s.Undecodable || s.Extra {
		return
	}
	line, err := extproto.Encode(frame)
	if err != nil {
		t.Fatalf("line %d: encoding: %v", s.Line, err)
	}
	if diff := cmp.Diff(value(t, s.Frame), value(t, line)); diff != "" {
		t.Errorf("line %d: encoded again it differs (-file +encoded):\n%s", s.Line, diff)
	}
}

// checkRaw makes sure that a line is as broken as its file says, and what a
// reader makes of it otherwise.
func checkRaw(t *testing.T, s extprototest.Step) {
	t.Helper()
	line, err := extproto.NewReader(strings.NewReader(*s.Raw + "\n")).Next()
	if err != nil {
		return // blank
	}
	frame, err := extproto.DecodeFromExtension(line)
	if s.Frame == nil {
		if err == nil {
			t.Errorf("line %d: %q is a frame after all: %#v", s.Line, *s.Raw, frame)
		}
		return
	}
	want, _ := extproto.DecodeFromExtension(s.Frame)
	if err != nil || !reflect.DeepEqual(frame, want) {
		t.Errorf("line %d: %q gave %#v, %v; want %#v", s.Line, *s.Raw, frame, err, want)
	}
}

func decode(s extprototest.Step) (extproto.Frame, error) {
	if s.FromHost() {
		return extproto.DecodeFromHost(s.Frame)
	}
	return extproto.DecodeFromExtension(s.Frame)
}

func value(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// schemaFile is where the schema of a frame is: where the two directions
// differ, the host's has a name of its own.
func schemaFile(host bool, frameType string) string {
	if path := filepath.Join(schemas, frameType+".host.schema.json"); host {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(schemas, frameType+".schema.json")
}

func compiler(t *testing.T) func(host bool, frameType string) *jsonschema.Schema {
	done := map[string]*jsonschema.Schema{}
	return func(host bool, frameType string) *jsonschema.Schema {
		t.Helper()
		path := schemaFile(host, frameType)
		if done[path] == nil {
			s, err := jsonschema.Compile(path)
			if err != nil {
				t.Fatal(err)
			}
			done[path] = s
		}
		return done[path]
	}
}

// The wire types and the schemas name the same fields, and every field is
// described.
func TestSchemasMatchTypes(t *testing.T) {
	used := map[string]bool{}
	for _, f := range allFrames() {
		path := schemaFile(f.host, f.frame.FrameType())
		used[filepath.Base(path)] = true
		t.Run(filepath.Base(path), func(t *testing.T) { checkSchema(t, path, f.frame) })
	}
	files, _ := filepath.Glob(filepath.Join(schemas, "*.json"))
	for _, file := range files {
		if !used[filepath.Base(file)] {
			t.Errorf("%s belongs to no frame", file)
		}
	}
}

func checkSchema(t *testing.T, path string, frame extproto.Frame) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	schema := value(t, data).(map[string]any)
	described(t, path, schema)
	got := slices.Sorted(mapsKeys(schema["properties"]))
	want := append(fields(reflect.TypeOf(frame)), "type")
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-type +schema):\n%s", diff)
	}
	if defs, ok := schema["$defs"].(map[string]any); ok {
		checkDef(t, defs, "block", extproto.Block{})
		checkDef(t, defs, "panel", extproto.Panel{})
	}
}

func checkDef(t *testing.T, defs map[string]any, name string, v any) {
	def, ok := defs[name].(map[string]any)
	if !ok {
		return
	}
	want := fields(reflect.TypeOf(v))
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(mapsKeys(def["properties"]))); diff != "" {
		t.Errorf("fields of %s (-type +schema):\n%s", name, diff)
	}
}

// described walks a schema and complains about properties without a word.
func described(t *testing.T, where string, schema map[string]any) {
	if s, _ := schema["description"].(string); s == "" {
		t.Errorf("%s has no description", where)
	}
	for _, key := range []string{"properties", "$defs"} {
		m, _ := schema[key].(map[string]any)
		for name, sub := range m {
			described(t, where+"/"+key+"/"+name, sub.(map[string]any))
		}
	}
}

func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func mapsKeys(v any) func(yield func(string) bool) {
	m, _ := v.(map[string]any)
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type directed struct {
	host  bool
	frame extproto.Frame
}

// allFrames has one of each type and direction. It takes them from the
// decoders, so that a new type cannot be forgotten here.
func allFrames() []directed {
	var all []directed
	for _, host := range []bool{false, true} {
		for _, name := range extproto.FrameTypes(host) {
			f, err := decode(extprototest.Step{From: map[bool]string{false: "ext", true: "host"}[host], Frame: json.RawMessage(`{"type":"` + name + `"}`)})
			if err != nil {
				panic(err)
			}
			all = append(all, directed{host, f})
		}
	}
	return all
}

// Every type of frame stands in some conversation.
func TestGoldenCoversAllTypes(t *testing.T) {
	seen := map[directedType]bool{}
	for _, c := range extprototest.Load(t, golden) {
		for _, s := range c.Steps {
			if s.Frame != nil {
				seen[directedType{s.FromHost(), s.Type()}] = true
			}
		}
	}
	for _, f := range allFrames() {
		if !seen[directedType{f.host, f.frame.FrameType()}] {
			t.Errorf("%s (from host: %v) is in no conversation", f.frame.FrameType(), f.host)
		}
	}
}

type directedType struct {
	host bool
	name string
}
