package trust

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/patriceckhart/zot/config/document"
)

// Held returns the policy sections that were approved and that the project says
// otherwise now, by layer. They hold besides those of today: whoever takes a rule
// out of a project, a commit as well as a model with a shell, has changed
// nothing until the user agrees. A nil record has none; of a project that cannot
// be read all holds.
func (r *Record) Held(b *Bundle) map[string]*document.Node {
	out := map[string]*document.Node{}
	if r == nil {
		return out
	}
	for layer, n := range r.held {
		var now *document.Node
		if b != nil {
			now = b.Policy[layer]
		}
		if now == nil || !bytes.Equal(now.JSON(), n.JSON()) {
			out[layer] = n
		}
	}
	return out
}

// loosened lists what the project's policy does not say any more, and what it
// allows that it did not.
func (r *Record) loosened(b *Bundle) []string {
	var out []string
	for _, layer := range []string{"local", "project"} {
		var was, now []string
		if kept := r.held[layer]; kept != nil {
			was = statements("", kept)
		} else if r.Digest == "" {
			continue // nothing was approved: its policy only narrows
		}
		if n := b.Policy[layer]; n != nil {
			now = statements("", n)
		}
		for _, s := range was {
			if !slices.Contains(now, s) && !onlyAllows(s) && !stricter(s, now) {
				out = append(out, "no longer "+s)
			}
		}
		for _, s := range now {
			if !slices.Contains(was, s) && onlyAllows(s) {
				out = append(out, "newly "+s)
			}
		}
	}
	sort.Strings(out)
	return out
}

// statements takes a section apart: one line for each rule, verdict and key.
func statements(path string, n *document.Node) []string {
	var out []string
	switch {
	case n.Kind == document.Object && (path == "" || strings.HasPrefix(path, "tools") || path == "trust"):
		for _, m := range n.Members {
			if strings.HasPrefix(m.Name, "x-") || path == "" && m.Name == "recommend" {
				continue // they decide nothing
			}
			out = append(out, statements(strings.TrimPrefix(path+"."+m.Name, "."), m.Value)...)
		}
	case n.Kind == document.List:
		for _, item := range n.Items {
			out = append(out, path+" "+string(item.JSON()))
		}
	default:
		out = append(out, path+" "+string(n.JSON()))
	}
	return out
}

// onlyAllows tells whether a statement allows something, and bounds nothing.
func onlyAllows(s string) bool {
	switch {
	case strings.HasPrefix(s, "rules "):
		return strings.Contains(s, `"decision":"allow"`) && !strings.Contains(s, `"grant"`)
	case strings.HasPrefix(s, "tools."):
		return strings.HasPrefix(s, "tools.bash.allow ") || strings.HasSuffix(s, ` "allow"`)
	}
	return false
}

// ranks orders the words of keys that have one, laxest first.
var ranks = map[string][]string{
	"mode": {`"open"`, `"pinned"`, `"locked"`}, "unlisted": {`"inherit"`, `"ask"`, `"deny"`},
	"enforce": {`"mode"`, `"ask"`, `"require"`}, "audit": {`"on"`, `"required"`}, "skillTools": {`"any"`, `"ask"`, `"listed"`},
	"tools.bash.unlisted": {`"inherit"`, `"ask"`, `"deny"`},
}

// stricter tells whether the key of a statement now has a word that narrows as
// much or more, or whether it had the laxest.
func stricter(s string, now []string) bool {
	key, word, _ := strings.Cut(s, " ")
	words, ok := ranks[key]
	if !ok {
		if strings.HasPrefix(key, "tools.") { // a tool's own verdict
			words = []string{`"allow"`, `"ask"`, `"deny"`}
		} else {
			return false
		}
	}
	was := slices.Index(words, word)
	if was == 0 {
		return true
	}
	for _, n := range now {
		if k, w, _ := strings.Cut(n, " "); k == key && was > 0 && slices.Index(words, w) >= was {
			return true
		}
	}
	return false
}
