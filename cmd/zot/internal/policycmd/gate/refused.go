package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// A Refusal is what an extension tried and may not, with what would let it.
type Refusal struct {
	audit.Refused
	Remedy string `json:"remedy,omitempty"`
}

// maxRefusals bounds what is told of one extension.
const maxRefusals = 20

// Refused lists, by the names of the candidates, what was refused to each in
// this run and before, as far as the log of decisions goes back, and would be
// refused today: the latest first, and 20 at most. A limit that was met under
// another policy says nothing of today's, so it is left out.
func (g *Gate) Refused(candidates ...*discovery.Candidate) (map[string][]Refusal, error) {
	bound := map[string]*policies.Bound{}
	var names []string
	for _, c := range candidates {
		if b := g.bound[keyOf(c)]; b != nil && bound[c.Name] == nil {
			bound[c.Name] = b
			names = append(names, c.Name)
		}
	}
	all, err := audit.RefusedTo(g.opts.Home.AuditFile(), names...)
	today, out := g.PolicyDigest(), map[string][]Refusal{}
	for name, refused := range all {
		for _, r := range refused {
			if still, ok := refusedToday(r, bound[name], r.Policy == today); ok && len(out[name]) < maxRefusals {
				out[name] = append(out[name], still)
			}
		}
	}
	return out, err
}

// refusedToday judges by the policy of today what was refused once; same says
// that it is the policy that refused it.
func refusedToday(r audit.Refused, b *policies.Bound, same bool) (Refusal, bool) {
	if r.Capability == "limits" {
		key, _, _ := strings.Cut(r.Value, " ")
		return Refusal{r, "raise limits." + key + " in its manifest and in the policy that bounds it"}, same
	}
	if d := b.Use(r.Capability, r.Value); !d.Allowed() {
		r.Code, r.By = d.Code, d.By
		return Refusal{r, d.Remedy}, true
	}
	if !r.By.Builtin {
		return Refusal{}, false
	}
	remedy := ""
	switch r.Capability { // it was granted, and something else was in the way
	case policies.FSRead, policies.FSWrite:
		remedy = beyond(r, b, same)
	case policies.NetConnect:
		if same {
			remedy = "the host is in a network of your own: grant its very address"
		}
	}
	return Refusal{r, remedy}, remedy != ""
}

// beyond says why a file that was granted may be out of reach of a module, and
// what to do; empty where nothing is in the way any more.
func beyond(r audit.Refused, b *policies.Bound, same bool) string {
	real, err := filepath.EvalSymlinks(r.Value)
	info, statErr := os.Stat(r.Value)
	below, inside := lies(r.Value, real, b)
	switch {
	case err != nil || statErr != nil:
	case !below:
		return "a module gets folders, not files, and those that are there when it starts: grant the folder that it is in"
	case !inside:
		remedy := "it leads to " + real + ", and a link out of a granted folder is not followed: have it use that path"
		if d := b.Use(r.Capability, filepath.ToSlash(real)); d.Remedy != "" {
			remedy += "; and " + d.Remedy
		}
		return remedy
	case !info.IsDir() && !info.Mode().IsRegular():
		return "only files and folders are opened, and it is a " + home.Kind(info.Mode())
	}
	if r.Capability == policies.FSWrite && same {
		return "no grant lets a module make links, change modes, or change what zot keeps in a project"
	}
	return ""
}

// lies says whether a path is below a folder that was granted, and whether what
// it leads to is inside of that, too.
func lies(path, real string, b *policies.Bound) (below, inside bool) {
	granted := b.Reach()
	for _, root := range append(slices.Clone(granted.FSRead), granted.FSWrite...) {
		realRoot, err := filepath.EvalSymlinks(root)
		if info, statErr := os.Stat(root); err != nil || statErr != nil || !info.IsDir() || !paths.Contains(root, path) {
			continue
		}
		below = true
		inside = inside || paths.Contains(realRoot, real)
	}
	return below, inside
}
