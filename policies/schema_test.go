package policies_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/schemas/schematest"
)

// The schema and the reader say the same: of random good policies, and of good
// ones with one thing spoilt.
func TestSchemaAndReaderAgree(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(11, 12))}
	for range 300 {
		text := d.policy(true)
		if problems := schemas.Validate("policy", []byte(text)); len(problems) > 0 {
			t.Fatalf("%s\n%v", text, problems)
		}
	}
	for _, text := range []string{
		`{"mdoe": "open"}`, `{"mode": "shut"}`, `{"mode": null}`, `{"unlisted": "allow"}`, `{"rules": {}}`, `{"rules": [{}]}`,
		`{"rules": [{"decision": "permit"}]}`, `{"rules": [{"decision": "deny", "grant": {}}]}`, `{"rules": [{"decision": "allow", "mach": {}}]}`,
		`{"rules": [{"decision": "allow", "match": {"name": 5}}]}`, `{"rules": [{"decision": "allow", "match": {"name": []}}]}`,
		`{"rules": [{"decision": "allow", "match": {"scope": "here"}}]}`, `{"rules": [{"decision": "allow", "match": {"transport": "tcp"}}]}`,
		`{"rules": [{"decision": "allow", "match": {"digest": "sha256:x"}}]}`, `{"rules": [{"decision": "allow", "match": {"requests": "network"}}]}`,
		`{"rules": [{"decision": "allow", "match": {"except": {}}}]}`, `{"rules": [{"decision": "allow", "match": {"except": {"except": {"name": "x"}}}}]}`,
		`{"rules": [{"decision": "allow", "grant": {"tool": ["x"]}}]}`, `{"rules": [{"decision": "allow", "grant": {"fs": {"read": ["../x"]}}}]}`,
		`{"rules": [{"decision": "allow", "grant": {"submit": "yes"}}]}`, `{"rules": [{"decision": "allow", "grant": {"limits": {"memory": "much"}}}]}`,
		`{"require": ["*"]}`, `{"require": [{"source": "https://h/r"}]}`, `{"trust": {"project": "always"}}`, `{"trust": "never"}`, `{"enforce": "no"}`, `{"audit": "off"}`, `{"skillTools": "none"}`,
	} {
		problems := schemas.Validate("policy", []byte(text))
		set := loadAny(t, layers{policies.User: text})
		if len(problems) == 0 || set.Valid() {
			t.Errorf("%s: the schema says %v, the reader %v", text, problems, set.Problems)
		}
	}
}

// Every key of the schema is read.
func TestEveryPropertyIsRead(t *testing.T) {
	type schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	get := func(name string) (s schema) {
		text, _ := schemas.Get(name)
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	check := func(path string, props map[string]any) {
		for name := range props {
			set := loadAny(t, layers{policies.User: strings.Replace(path, "KEY", name, 1)})
			for _, p := range set.Problems {
				if strings.Contains(p.Message, "has no key") {
					t.Errorf("%s is in the schema and not read", name)
				}
			}
		}
	}
	policy := get("policy")
	check(`{"KEY": 1}`, policy.Properties)
	check(`{"rules": [{"KEY": 1}]}`, policy.Defs["rule"].Properties)
	check(`{"rules": [{"match": {"KEY": 1}}]}`, policy.Defs["match"].Properties)
	check(`{"rules": [{"grant": {"KEY": 1}}]}`, get("shared/permissions").Properties)
	check(`{"rules": [{"grant": {"limits": {"KEY": 1}}}]}`, get("shared/limits").Properties)
}

// The schema says which layers may set a key, and the reader says the same.
func TestLayersOfEachKey(t *testing.T) {
	good := map[string]string{
		"mode": `"open"`, "unlisted": `"ask"`, "enforce": `"ask"`, "audit": `"required"`, "skillTools": `"ask"`, "rules": `[]`, "tools": `{}`,
		"require": `[{"name": "a", "source": "git+https://h.example/r"}]`, "recommend": `[{"name": "a"}]`, "trust": `{"project": "ask"}`,
	}
	for _, key := range schematest.Properties(t, "policy", "") {
		value, ok := good[key]
		if !ok {
			t.Errorf("no sample for %q", key)
			continue
		}
		listed := schematest.Layers(t, "policy", "/properties/"+key)
		for layer := policies.Managed; layer <= policies.Local; layer++ {
			set := loadAny(t, layers{layer: `{"` + key + `": ` + value + `}`})
			refused := slices.ContainsFunc(set.Problems, func(p policies.Problem) bool { return p.Code == policies.CodeKeyNotAllowed })
			if refused == slices.Contains(listed, layer.String()) {
				t.Errorf("%s in %s: the schema lists %v, the reader refuses: %t %v", key, layer, listed, refused, set.Problems)
			}
		}
		// A variable is a key in capitals: skillTools is ZOT_POLICY_SKILL_TOOLS.
		name := "ZOT_POLICY_" + strings.ToUpper(regexp.MustCompile("[A-Z]").ReplaceAllString(key, "_$0"))
		section := policies.EnvSections([]string{name + "=" + strings.Trim(value, `"`)})[0]
		if known := section.Err == nil; known != slices.Contains(listed, "env") {
			t.Errorf("%s: the schema lists %v, and %s is known: %t", key, listed, name, known)
		}
	}
}

func TestSchemaAndTablesAgree(t *testing.T) {
	schematest.Same(t, "policy-tests", "/$defs/test", schematest.Fields(reflect.TypeFor[policies.TableTest]()))
	schematest.Same(t, "policy-tests", "/$defs/extension", schematest.Fields(reflect.TypeFor[policies.TableExtension]()))
	for _, c := range policies.Capabilities {
		if problems := schemas.Validate("policy-tests", []byte(`{"tests": [{"want": "ask", "use": "`+string(c)+`=x"}]}`)); len(problems) > 0 {
			t.Errorf("%s: %v", c, problems)
		}
	}
}
