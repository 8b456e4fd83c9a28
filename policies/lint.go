package policies

import (
	"fmt"
	"slices"
)

// A Note is something in a policy that is valid and cannot have been meant.
type Note struct {
	At      Origin `json:"at"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// String is the note on one line.
func (n Note) String() string { return fmt.Sprintf("%s: %s; %s", n.At, n.Message, n.Remedy) }

// Lint finds rules that can never decide anything, and those that contradict
// each other or a requirement.
func (s *Set) Lint() []Note {
	var out []Note
	for _, l := range s.layers {
		out = append(out, l.lintRules()...)
		out = append(out, s.lintRequirements(l)...)
	}
	return out
}

func (l *layer) lintRules() []Note {
	var out []Note
	ids := map[string]*rule{}
	for i, r := range l.rules {
		if first := ids[r.id]; first != nil {
			out = append(out, Note{r.at, fmt.Sprintf("%s is there twice, first in line %d", r.id, first.at.Line), "give each rule an id of its own"})
		}
		ids[r.id] = r
		for j, other := range l.rules {
			if i != j && other.hides(r, j < i) {
				out = append(out, Note{r.at, fmt.Sprintf("it never decides: %s in line %d is about all that it is about, and stricter", other.id, other.at.Line), "remove one of the two, or narrow the stricter one with except"})
				break
			}
		}
		if l.layer.owner() && r.decision == Allow && slices.Contains(r.match.scopes, string(ScopeProject)) && !r.match.identifies() {
			out = append(out, Note{r.at, "it grants nothing: a project's extension must be named by its digest or source", "add match.digest or match.source"})
		}
	}
	return out
}

// hides tells whether r decides whatever other decides, and no less strictly.
// Of two that are alike the first hides the second.
func (r *rule) hides(other *rule, first bool) bool {
	if r.decision > other.decision || r.grant != nil || r.decision == Allow {
		return false
	}
	if r.decision == other.decision && !first {
		return false
	}
	return r.match.contains(&other.match)
}

// contains tells whether all that o is about m is about. It may miss some.
func (m *match) contains(o *match) bool {
	if m.except != nil {
		return false
	}
	for _, pair := range [][2][]string{{m.scopes, o.scopes}, {m.digests, o.digests}, {m.transports, o.transports}, {m.sources, o.sources}} {
		if !listInside(pair[1], pair[0], same) {
			return false
		}
	}
	if !listInside(o.globs, m.globs, globInsideFold) || m.version != nil {
		return false
	}
	if len(m.requests) == 0 {
		return true
	}
	return len(o.requests) > 0 && !slices.ContainsFunc(o.requests, func(s selector) bool {
		return !slices.ContainsFunc(m.requests, func(t selector) bool { return t.covers(s.cap, s.value) })
	})
}

// listInside tells whether each item of inner is inside one of outer; an empty
// list is about anything.
func listInside(inner, outer []string, inside func(a, b string) bool) bool {
	if len(outer) == 0 {
		return true
	}
	return len(inner) > 0 && !slices.ContainsFunc(inner, func(a string) bool {
		return !slices.ContainsFunc(outer, func(b string) bool { return inside(a, b) })
	})
}

// lintRequirements finds owners' rules that deny what an owner requires.
func (s *Set) lintRequirements(l *layer) []Note {
	var out []Note
	for _, q := range l.require {
		for _, other := range s.layers {
			for _, r := range other.rules {
				if other.layer.owner() && r.decision == Deny && len(r.match.requests) == 0 && r.match.contains(&q.match) {
					out = append(out, Note{r.at, fmt.Sprintf("it denies %s, which line %d of %s requires", q.Name(), q.At.Line, q.At.File), "except it from the rule, or drop the requirement"})
				}
			}
		}
	}
	return out
}

// UsesDigests tells whether a rule or requirement speaks of digests, so that
// those of all extensions have to be known.
func (s *Set) UsesDigests() bool {
	has := func(m *match) bool { return len(m.digests) > 0 || m.except != nil && len(m.except.digests) > 0 }
	return slices.ContainsFunc(s.layers, func(l *layer) bool {
		return slices.ContainsFunc(l.rules, func(r *rule) bool { return has(&r.match) }) ||
			slices.ContainsFunc(l.require, func(q *Requirement) bool { return has(&q.match) })
	})
}

// Layers returns one set for each layer that has a section, to be shown alone.
func (s *Set) Layers() []Layer {
	var out []Layer
	for _, l := range s.layers {
		out = append(out, l.layer)
	}
	return out
}
