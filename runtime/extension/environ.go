package extension

import (
	"slices"
	"strings"
)

// Environ builds the environment of an extension: the inherited one without
// the names to withhold, then what its manifest declares, then zot's own
// ZOT_EXTENSION and ZOT_CWD. A declared variable that is empty stays set and
// empty. It also says which of the names to withhold were really there.
func Environ(inherited []string, withhold []string, declared map[string]string, name, cwd string) (env, withheld []string) {
	for _, kv := range inherited {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case slices.Contains(withhold, key):
			withheld = append(withheld, key)
		case key == "ZOT_EXTENSION" || key == "ZOT_CWD":
		default:
			if _, over := declared[key]; !over {
				env = append(env, kv)
			}
		}
	}
	for _, key := range sortedKeys(declared) {
		env = append(env, key+"="+declared[key])
	}
	return append(env, "ZOT_EXTENSION="+name, "ZOT_CWD="+cwd), withheld
}

func sortedKeys(m map[string]string) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
