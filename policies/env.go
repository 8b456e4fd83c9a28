package policies

import (
	"errors"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/document"
)

const envPrefix = "ZOT_POLICY_"

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
		if !slices.Contains([]string{"MODE", "UNLISTED", "ENFORCE", "AUDIT"}, key) {
			unknown = errors.New(name + " is not a variable of the policy; there are ZOT_POLICY_MODE, _UNLISTED, _ENFORCE and _AUDIT")
			continue
		}
		n.Members = append(n.Members, document.Member{
			Name: strings.ToLower(key), Value: &document.Node{Kind: document.String, Text: value},
		})
	}
	s := Section{Layer: Env, File: envPrefix + "*", Node: n, Err: unknown}
	return s, len(n.Members) > 0 || unknown != nil
}
