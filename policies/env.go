package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

const envPrefix = "ZOT_POLICY_"

// envKeys are the keys of a policy that have a variable, by the end of its
// name.
var envKeys = map[string]string{
	"MODE": "mode", "UNLISTED": "unlisted", "ENFORCE": "enforce", "AUDIT": "audit", "SKILL_TOOLS": "skillTools",
}

// EnvSections reads the variables ZOT_POLICY_…, each as a section of its own,
// so that what is wrong with one, or decided by it, names it. Like any layer
// they can only narrow. Empty ones count as not set; one that no key has closes
// what the user's policy would.
func EnvSections(environ []string) []Section {
	var out []Section
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		end, ok := strings.CutPrefix(name, envPrefix)
		if !ok || value == "" {
			continue
		}
		s := Section{Layer: Env, File: name}
		if key, known := envKeys[end]; known {
			s.Node = &document.Node{Kind: document.Object, Members: []document.Member{
				{Name: key, Value: &document.Node{Kind: document.String, Text: value}},
			}}
		} else {
			s.Err = unknownVariable(name)
		}
		out = append(out, s)
	}
	return out
}

func unknownVariable(name string) error {
	known := slices.Sorted(maps.Keys(envKeys))
	remedy := "there are " + envPrefix + strings.Join(known, ", "+envPrefix)
	if near := schemas.Nearest(strings.TrimPrefix(name, envPrefix), known); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", envPrefix+near)
	}
	return &document.SyntaxError{File: name, Msg: "no key of a policy has this variable", Remedy: remedy}
}
