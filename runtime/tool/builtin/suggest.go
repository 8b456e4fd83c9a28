package builtin

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/policies/paths"
)

const (
	maxSuggestions = 5
	// maxVisited bounds the search of the project for a file of that name.
	maxVisited = 20_000
)

// suggest words what may have been meant by a path that names nothing: ";
// …", or "" if there is no idea.
func (f *files) suggest(p paths.Path) string {
	rel, err := filepath.Rel(p.Anchor(), p.Real)
	if err != nil {
		return ""
	}
	missing, _, deeper := strings.Cut(filepath.ToSlash(rel), "/")
	var b strings.Builder
	if deeper {
		fmt.Fprintf(&b, "; %q has no folder %q", p.Anchor(), missing)
	}
	found := f.similar(p.Anchor(), missing)
	for _, other := range f.elsewhere(filepath.Base(p.Real)) {
		if !slices.Contains(found, other) {
			found = append(found, other)
		}
	}
	if len(found) > 0 {
		found = found[:min(len(found), maxSuggestions)]
		fmt.Fprintf(&b, "; close names: %s", quoted(found))
	}
	return b.String()
}

func quoted(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, fmt.Sprintf("%q", n))
	}
	return strings.Join(q, ", ")
}

// similar lists the entries of dir whose names are close to name, closest
// first, if dir may be read.
func (f *files) similar(dir, name string) []string {
	if f.judge(paths.Read, dir) != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type hit struct {
		path  string
		apart int
	}
	var hits []hit
	want := paths.Fold(paths.LooseName(name))
	for _, e := range entries[:min(len(entries), maxVisited)] {
		if d, ok := apart(want, paths.Fold(paths.LooseName(e.Name()))); ok {
			hits = append(hits, hit{relative(f.cwd, filepath.Join(dir, e.Name())), d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.apart, b.apart) })
	var out []string
	for _, h := range hits[:min(len(hits), maxSuggestions)] {
		out = append(out, h.path)
	}
	return out
}

// apart says how far two names are from each other, and whether that is near.
func apart(a, b string) (int, bool) {
	stemA, stemB := strings.TrimSuffix(a, filepath.Ext(a)), strings.TrimSuffix(b, filepath.Ext(b))
	if stemA != "" && stemA == stemB {
		return 1, true // another extension
	}
	ra, rb := []rune(a), []rune(b)
	if len(ra) > 255 || len(rb) > 255 {
		return 0, false
	}
	if len(ra) >= 4 && (strings.Contains(b, a) || len(rb) >= 4 && strings.Contains(a, b)) {
		return 2, true
	}
	d := min(distance(ra, rb), distance([]rune(stemA), []rune(stemB)))
	return d, d <= max(1, min(len(ra), len(rb))/3)
}

// distance is Levenshtein's: how many runes to insert, remove or change.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diag := row[0]
		row[0] = i + 1
		for j, cb := range b {
			cost := diag
			if ca != cb {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

// elsewhere finds files called name below the working folder, as far as a
// short search gets.
func (f *files) elsewhere(name string) []string {
	if f.judge(paths.Read, f.cwd) != nil {
		return nil
	}
	var found []string
	visited := 0
	_ = filepath.WalkDir(f.cwd, func(path string, d fs.DirEntry, err error) error {
		if visited++; visited > maxVisited || len(found) == maxSuggestions {
			return filepath.SkipAll
		}
		if err != nil {
			return nil
		}
		if d.IsDir() && path != f.cwd && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.EqualFold(d.Name(), name) && f.judge(paths.Read, path) == nil {
			found = append(found, relative(f.cwd, path))
		}
		return nil
	})
	return found
}
