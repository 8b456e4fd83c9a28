package policies

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// A Scope says where an extension was found.
type Scope string

// The scopes.
const (
	ScopeManaged Scope = "managed"
	ScopeUser    Scope = "user"    // installed, or in a further folder of the user's settings
	ScopeProject Scope = "project" // comes with the project
	ScopeFlag    Scope = "flag"    // named by --ext
)

// A match says which extensions a rule is about. Every field that is given must
// hold; a list means any of its items.
type match struct {
	globs      []string // of names, any case
	scopes     []string
	sources    []string // normalized patterns
	version    *versionRange
	digests    []string
	transports []string
	requests   []selector
	except     *match
}

// identifies tells whether the match names content, and not only what content
// calls itself.
func (m *match) identifies() bool { return len(m.digests) > 0 || len(m.sources) > 0 }

// subject tells whether the match holds for what is known of s, requests left
// out. An attribute that is not known counts against the extension: as a match
// where the rule denies, and as none where it allows.
func (m *match) subject(s *Subject, denies bool) bool {
	ok := listHolds(m.globs, func(p string) bool { return foldGlob(p, s.Name) }) &&
		listHolds(m.scopes, func(v string) bool { return v == string(s.Scope) }) &&
		listHolds(m.transports, func(v string) bool { return v == s.Transport })
	if !ok {
		return false
	}
	if len(m.digests) > 0 && !known(s.Digest, denies, slices.Contains(m.digests, s.Digest)) {
		return false
	}
	if len(m.sources) > 0 && !known(s.source, denies, slices.ContainsFunc(m.sources, func(p string) bool { return matchSource(p, s.source) })) {
		return false
	}
	if m.version != nil && !m.version.holds(s.version, denies) {
		return false
	}
	return m.except == nil || len(m.except.requests) > 0 || !m.except.subject(s, !denies)
}

func known(value string, denies, holds bool) bool {
	if value == "" {
		return denies
	}
	return holds
}

func listHolds(list []string, holds func(string) bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, holds)
}

// exceptsByRight tells whether the match has an exception for some rights, and
// that exception is about s. What is not known about s does not except it from a
// denial, and does from an allowance.
func (m *match) exceptsByRight(s *Subject, denies bool) bool {
	return m.except != nil && len(m.except.requests) > 0 && m.except.subject(s, !denies)
}

// load tells whether a rule with this match, which holds for the subject, is
// about loading it. A rule that names rights is about extensions that ask for
// something wholly among them; where it allows, about those that ask for nothing
// else. Of a right that is denied in part the rest can still be used.
func (m *match) load(s *Subject, denies bool) bool {
	excepted := m.exceptsByRight(s, denies)
	about := func(a Atom) bool {
		inside := len(m.requests) == 0 || !denies && m.about(a.Cap, a.Value, false) || denies && m.names(a)
		return inside && (!excepted || !m.except.exempts(a.Cap, a.Value, denies))
	}
	switch {
	case len(m.requests) == 0 && !excepted:
		return true
	case denies:
		return slices.ContainsFunc(s.asks, about)
	}
	return len(s.asks) > 0 && !slices.ContainsFunc(s.asks, func(a Atom) bool { return !about(a) })
}

// use tells whether a rule with this match, which holds for the subject, is
// about using c with value. excepted is what exceptsByRight said.
func (m *match) use(c Capability, value string, denies, excepted bool) bool {
	if len(m.requests) > 0 && !m.about(c, value, denies) {
		return false
	}
	return !excepted || !m.except.exempts(c, value, denies)
}

// exempts is about for an exception: of a denial it exempts what lies wholly
// inside, of an allowance all that it has anything to do with.
func (m *match) exempts(c Capability, value string, denies bool) bool {
	return m.about(c, value, false) || !denies && m.about(c, value, true)
}

// about compares a right to the selectors: a denial reaches all that it has
// anything in common with, an allowance only what lies wholly inside.
func (m *match) about(c Capability, value string, denies bool) bool {
	if denies && isName(c, value) {
		return m.aboutName(c, value)
	}
	for i := range m.requests {
		if denies && m.requests[i].touches(c, value) || !denies && m.requests[i].covers(c, value) {
			return true
		}
	}
	return false
}

// isName tells whether a right is about one thing with a name, as most
// questions are.
func isName(c Capability, value string) bool {
	switch c {
	case Tools, CallTool:
		return strings.IndexByte(value, '*') < 0
	}
	return false
}

// aboutName is about for a denial and a name.
func (m *match) aboutName(c Capability, value string) bool {
	for i := range m.requests {
		if s := &m.requests[i]; s.cap == c && glob(s.value, value) {
			return true
		}
	}
	return false
}

// names tells whether the selectors hold the right by its name.
func (m *match) names(a Atom) bool {
	return slices.ContainsFunc(m.requests, func(s selector) bool { return s.names(a.Cap, a.Value) })
}

// A versionRange is a SemVer range. A pre-release is inside a range that denies
// wherever its number is, and inside one that allows only where the range
// speaks of pre-releases.
type versionRange struct{ plain, wide *semver.Constraints }

func parseRange(text string) (*versionRange, error) {
	plain, err := semver.NewConstraint(text)
	if err != nil {
		return nil, err
	}
	wide, err := semver.NewConstraint(text)
	if err != nil {
		return nil, err
	}
	wide.IncludePrerelease = true
	return &versionRange{plain, wide}, nil
}

func (r *versionRange) holds(v *semver.Version, denies bool) bool {
	switch {
	case v == nil:
		return denies
	case denies:
		return r.wide.Check(v)
	}
	return r.plain.Check(v)
}

// parseVersion reads a version, with or without a v before it; nil where it is
// none.
func parseVersion(text string) *semver.Version {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	return v
}
