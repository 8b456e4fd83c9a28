package policies

import (
	"errors"
	"strings"

	"github.com/patriceckhart/zot/config/document"
)

const envPrefix = "ZOT_POLICY_"

// envKeys are the keys of a policy that have a variable, by the end of its
// name.
var envKeys = map[string]string{
	"MODE": "mode", "UNLISTED": "unlisted", "ENFORCE": "enforce", "AUDIT": "audit", "SKILL_TOOLS": "skillTools",
}

// EnvSection reads the variables ZOT_POLICY_MODE, _UNLISTED, _ENFORCE and
// _AUDIT as a layer, which like any other can only narrow. Empty ones count as
// not set. It tells whether there are any.
func EnvSection(environ []string) (Section, bool) {
	n := &document.Node{Kind: document.Object}
	var unknown error
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		key, ok := strings.CutPrefix(name, envPrefix)
		if !ok || value == "" {
			continue
		}
		field, ok := envKeys[key]
		if !ok {
			unknown = errors.New(name + " is not a variable of the policy; there are ZOT_POLICY_MODE, _UNLISTED, _ENFORCE, _AUDIT and _SKILL_TOOLS")
			continue
		}
		n.Members = append(n.Members, document.Member{
			Name: field, Value: &document.Node{Kind: document.String, Text: value},
		})
	}
	s := Section{Layer: Env, File: envPrefix + "*", Node: n, Err: unknown}
	return s, len(n.Members) > 0 || unknown != nil
}
