package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

// A Problem is a fault in a policy section.
type Problem struct {
	Layer   Layer        `json:"layer"`
	Code    Code         `json:"code"`
	File    string       `json:"file"`
	Pos     document.Pos `json:"pos,omitzero"`
	Message string       `json:"message"`
	Remedy  string       `json:"remedy,omitempty"`
	// Closed says that the whole section fails closed for it.
	Closed bool `json:"closed"`

	text []byte
}

// Error is the problem on one line: file:line:column: what (code); what to do.
func (p Problem) Error() string {
	s := document.Place(p.File, p.Pos) + ": " + p.Message + " (" + string(p.Code) + ")"
	if p.Remedy != "" {
		s += "; " + p.Remedy
	}
	return s
}

// Render shows the problem in its line of the file, as compilers do.
func (p Problem) Render() string {
	return schemas.Render(schemas.Problem{
		Line: p.Pos.Line, Column: p.Pos.Column, Message: p.Message + " (" + string(p.Code) + ")", Remedy: p.Remedy,
	}, p.File, p.text)
}

// invalidCode is the code of a section of that layer that cannot be read.
func invalidCode(l Layer) Code {
	switch l {
	case Managed:
		return CodeManagedInvalid
	case Project, Local:
		return CodeProjectInvalid
	}
	return CodeUserInvalid
}

// A reader reads one section, strictly: what it does not understand it cannot
// promise to keep.
type reader struct {
	section  Section
	problems []Problem
}

func readSection(s Section) (*layer, []Problem) {
	l := &layer{layer: s.Layer, file: s.File, unlisted: Allow}
	r := &reader{section: s}
	switch {
	case s.Err != nil:
		r.unreadable()
	case s.Node != nil:
		r.policy(l, s.Node)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Pos.Compare(b.Pos) })
	for _, p := range r.problems {
		if p.Closed {
			l.broken, l.brokenCode = fmt.Errorf("%s", p.Message), p.Code
			l.brokenPlace = Origin{Layer: s.Layer, File: s.File, Line: p.Pos.Line, Column: p.Pos.Column}
			l.rules = nil
			break
		}
	}
	return l, r.problems
}

// unreadable reports what the loader of settings said.
func (r *reader) unreadable() {
	p := Problem{Layer: r.section.Layer, Code: invalidCode(r.section.Layer), File: r.section.File,
		Message: r.section.Err.Error(), Closed: true, text: r.section.Text}
	if syntax, ok := r.section.Err.(*document.SyntaxError); ok {
		p.Pos, p.Message, p.Remedy = syntax.Pos, syntax.Msg, syntax.Remedy
	}
	if r.section.Insecure {
		p.Code = CodeInsecureOwner
	}
	r.problems = append(r.problems, p)
}

// fault closes the section.
func (r *reader) fault(pos document.Pos, remedy, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		Layer: r.section.Layer, Code: invalidCode(r.section.Layer), File: r.section.File, Pos: pos,
		Message: fmt.Sprintf(format, args...), Remedy: remedy, Closed: true, text: r.section.Text,
	})
}

// notAllowed reports a key that the layer may not set. The rest of the section
// still narrows.
func (r *reader) notAllowed(pos document.Pos, key, where string) {
	r.problems = append(r.problems, Problem{
		Layer: r.section.Layer, Code: CodeKeyNotAllowed, File: r.section.File, Pos: pos, text: r.section.Text,
		Message: fmt.Sprintf("policy.%s may not be set by the %s layer, and is ignored", key, r.section.Layer),
		Remedy:  "set it in: " + where,
	})
}

func (r *reader) origin(pos document.Pos, what string) Origin {
	return Origin{Layer: r.section.Layer, File: r.section.File, Line: pos.Line, Column: pos.Column, Rule: what}
}

// fields calls the function for each member of an object. Names are exact and
// come once; those that begin with x- are comments.
func (r *reader) fields(n *document.Node, what string, known map[string]func(*document.Node, document.Pos)) bool {
	if n.Kind != document.Object {
		r.fault(n.Pos, "write {…}", "%s must be an object, and is %s", what, n.Kind)
		return false
	}
	first := map[string]int{}
	for _, m := range n.Members {
		if strings.HasPrefix(m.Name, "x-") {
			continue
		}
		if line, twice := first[m.Name]; twice {
			r.fault(m.Pos, "keep one of the two", "%s has the key %q twice, first in line %d", what, m.Name, line)
			continue
		}
		first[m.Name] = m.Pos.Line
		if read := known[m.Name]; read != nil {
			read(m.Value, m.Pos)
			continue
		}
		r.unknown(m, what, known)
	}
	return true
}

func (r *reader) unknown(m document.Member, what string, known map[string]func(*document.Node, document.Pos)) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	remedy := "known here: " + strings.Join(names, ", ")
	if near := schemas.Nearest(m.Name, names); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	r.fault(m.Pos, remedy, "%s has no key %q", what, m.Name)
}

func (r *reader) policy(l *layer, n *document.Node) {
	owner := l.layer.owner()
	r.fields(n, "policy", map[string]func(*document.Node, document.Pos){
		"mode": func(v *document.Node, p document.Pos) {
			l.mode, l.modeAt = Mode(r.word(v, "mode", modeNames...)), r.origin(p, "mode")
		},
		"unlisted": func(v *document.Node, p document.Pos) {
			l.unlisted, l.unlistedAt = Verdict(r.word(v, "unlisted", "deny", "ask", "inherit")), r.origin(p, "unlisted")
		},
		"enforce": func(v *document.Node, p document.Pos) {
			l.enforce, l.enforceAt = Enforce(r.word(v, "enforce", "mode", "ask", "require")), r.origin(p, "enforce")
		},
		"audit": func(v *document.Node, p document.Pos) {
			l.audit, l.auditAt = Audit(r.word(v, "audit", "on", "required")), r.origin(p, "audit")
		},
		"skillTools": func(v *document.Node, p document.Pos) {
			l.skillTools, l.skillToolsAt = SkillTools(r.word(v, "skillTools", "any", "ask", "listed")), r.origin(p, "skillTools")
		},
		"rules": func(v *document.Node, _ document.Pos) {
			r.list(v, "rules", func(i int, item *document.Node) { l.rules = append(l.rules, r.rule(i, item)) })
		},
		"tools": func(v *document.Node, _ document.Pos) { r.tools(l, v) },
		"trust": func(v *document.Node, p document.Pos) {
			if !owner {
				r.notAllowed(p, "trust", "managed, user")
				return
			}
			r.trust(l, v)
		},
		"require": func(v *document.Node, p document.Pos) {
			if !owner {
				r.notAllowed(p, "require", "managed, user; a project may recommend")
				return
			}
			r.list(v, "require", func(_ int, item *document.Node) {
				if q := r.requirement(item); q != nil {
					l.require = append(l.require, q)
				}
			})
		},
		"recommend": func(v *document.Node, p document.Pos) {
			if !l.layer.fromProject() {
				r.notAllowed(p, "recommend", "project, local")
				return
			}
			r.list(v, "recommend", func(_ int, item *document.Node) { r.recommendation(l, item) })
		},
	})
}

// word reads one of the words and returns its rank; where it is none of them,
// the first.
func (r *reader) word(n *document.Node, what string, words ...string) int {
	if n.Kind == document.String {
		if i := slices.Index(words, n.Text); i >= 0 {
			return i
		}
	}
	got := n.Kind.String()
	if n.Kind == document.String {
		got = strconv.Quote(n.Text)
	}
	r.fault(n.Pos, "write one of "+strings.Join(words, ", "), "%s is %s", what, got)
	return 0
}

func (r *reader) list(n *document.Node, what string, item func(int, *document.Node)) {
	if n.Kind != document.List {
		r.fault(n.Pos, "write […]", "%s must be a list, and is %s", what, n.Kind)
		return
	}
	if len(n.Items) > 10_000 {
		r.fault(n.Pos, "shorten it", "%s has %d items", what, len(n.Items))
		return
	}
	for i, v := range n.Items {
		item(i, v)
	}
}

// strings reads a list of strings, or where one is true a string by itself.
func (r *reader) strings(n *document.Node, what string, one bool) []string {
	if one && n.Kind == document.String {
		n = &document.Node{Kind: document.List, Pos: n.Pos, Items: []*document.Node{n}}
	}
	out := []string{}
	r.list(n, what, func(_ int, item *document.Node) {
		if item.Kind != document.String || item.Text == "" {
			r.fault(item.Pos, `write strings: ["a", "b"]`, "%s holds %s", what, emptyOr(item))
			return
		}
		out = append(out, item.Text)
	})
	return out
}

func emptyOr(n *document.Node) string {
	if n.Kind == document.String {
		return "an empty string"
	}
	return n.Kind.String()
}

func (r *reader) text(n *document.Node, what string) string {
	if n.Kind != document.String {
		r.fault(n.Pos, "write a string", "%s must be a string, and is %s", what, n.Kind)
	}
	return n.Text
}

func (r *reader) flag(n *document.Node, what string) bool {
	if n.Kind != document.Bool {
		r.fault(n.Pos, "write true or false", "%s must be true or false, and is %s", what, n.Kind)
	}
	return n.Bool
}

func (r *reader) rule(i int, n *document.Node) *rule {
	out := &rule{id: "rule " + strconv.Itoa(i+1)}
	decided := false
	what := "rules[" + strconv.Itoa(i) + "]"
	r.fields(n, what, map[string]func(*document.Node, document.Pos){
		"id": func(v *document.Node, _ document.Pos) { out.id = "rule " + r.text(v, "id") },
		"decision": func(v *document.Node, _ document.Pos) {
			out.decision, decided = Verdict(r.word(v, "decision", "deny", "ask", "allow")), true
		},
		"match":  func(v *document.Node, _ document.Pos) { out.match = r.match(v, "match") },
		"grant":  func(v *document.Node, _ document.Pos) { out.grant = r.grant(v, "grant") },
		"reason": func(v *document.Node, _ document.Pos) { out.reason = r.text(v, "reason") },
	})
	out.at = r.origin(n.Pos, out.id)
	if !decided && n.Kind == document.Object {
		r.fault(n.Pos, `add "decision": "deny", "ask" or "allow"`, "%s has no decision", what)
	}
	if g := n.Get("grant"); decided && out.decision == Deny && g != nil {
		r.fault(g.Pos, "remove it; to deny rights, name them in match.requests", "a rule that denies grants nothing")
	}
	return out
}

func (r *reader) match(n *document.Node, what string) match {
	var m match
	known := map[string]func(*document.Node, document.Pos){
		"name": func(v *document.Node, _ document.Pos) {
			m.globs = r.nonEmpty(v, what+".name", r.strings(v, what+".name", true))
		},
		"scope": func(v *document.Node, _ document.Pos) {
			m.scopes = r.words(v, what+".scope", "managed", "user", "project", "flag")
		},
		"transport": func(v *document.Node, _ document.Pos) {
			m.transports = r.words(v, what+".transport", "wasi", "subprocess")
		},
		"source":   func(v *document.Node, _ document.Pos) { m.sources = r.sources(v, what+".source") },
		"version":  func(v *document.Node, _ document.Pos) { m.version = r.version(v, what+".version") },
		"digest":   func(v *document.Node, _ document.Pos) { m.digests = r.digests(v, what+".digest") },
		"requests": func(v *document.Node, _ document.Pos) { m.requests = r.selectors(v, what+".requests") },
	}
	if !strings.HasSuffix(what, "except") {
		known["except"] = func(v *document.Node, _ document.Pos) {
			e := r.match(v, what+".except")
			m.except = &e
		}
	}
	r.fields(n, what, known)
	if strings.HasSuffix(what, "except") && n.Kind == document.Object && len(n.Members) == 0 {
		r.fault(n.Pos, "say what is excepted, or remove it", "an empty %s excepts everything", what)
	}
	return m
}

func (r *reader) words(n *document.Node, what string, words ...string) []string {
	list := r.strings(n, what, true)
	for _, w := range list {
		if !slices.Contains(words, w) {
			r.fault(n.Pos, "write one of "+strings.Join(words, ", "), "%s has %q", what, w)
		}
	}
	return r.nonEmpty(n, what, list)
}

// nonEmpty refuses a list without items, which would read as any and look like
// none.
func (r *reader) nonEmpty(n *document.Node, what string, list []string) []string {
	if n.Kind == document.List && len(n.Items) == 0 {
		r.fault(n.Pos, "name something, or remove the key", "%s is empty", what)
	}
	return list
}

func (r *reader) sources(n *document.Node, what string) []string {
	var out []string
	for _, text := range r.nonEmpty(n, what, r.strings(n, what, true)) {
		norm, err := normalizePattern(text)
		if err != nil {
			r.fault(n.Pos, "for example git+https://example.org/team/**", "%s: %v", what, err)
			continue
		}
		out = append(out, norm)
	}
	return out
}

func (r *reader) version(n *document.Node, what string) *versionRange {
	v, err := parseRange(r.text(n, what))
	if err != nil {
		r.fault(n.Pos, `for example "<1.2.3" or "^2"`, "%s: %q is not a range of versions", what, n.Text)
		return nil
	}
	return v
}

func (r *reader) digests(n *document.Node, what string) []string {
	list := r.nonEmpty(n, what, r.strings(n, what, true))
	for _, d := range list {
		hex, ok := strings.CutPrefix(d, "zt1:")
		if !ok || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
			r.fault(n.Pos, "zot ext verify prints digests", "%s: %q is not a digest zt1:… of 64 hexadecimal digits", what, d)
		}
	}
	return list
}

func (r *reader) selectors(n *document.Node, what string) []selector {
	var out []selector
	for _, text := range r.nonEmpty(n, what, r.strings(n, what, true)) {
		s, ok := parseSelector(text)
		if !ok {
			names := make([]string, len(Capabilities))
			for i, c := range Capabilities {
				names[i] = string(c)
			}
			remedy := "write a capability, perhaps with a value: net.connect:*"
			if near := schemas.Nearest(strings.SplitN(text, ":", 2)[0], names); near != "" {
				remedy = fmt.Sprintf("did you mean %q?", near)
			}
			r.fault(n.Pos, remedy, "%s: no capability is called %q", what, text)
			continue
		}
		if s.cap == NetConnect {
			s.value = strings.ToLower(s.value)
		}
		out = append(out, s)
	}
	return out
}

func (r *reader) trust(l *layer, n *document.Node) {
	r.fields(n, "trust", map[string]func(*document.Node, document.Pos){
		"project": func(v *document.Node, p document.Pos) {
			l.never, l.neverAt = r.word(v, "trust.project", "ask", "never") == 1, r.origin(p, "trust.project")
		},
	})
}

func (r *reader) requirement(n *document.Node) *Requirement {
	q := &Requirement{At: r.origin(n.Pos, "require")}
	if n.Kind == document.String { // a name by itself
		n = &document.Node{Kind: document.Object, Pos: n.Pos, Members: []document.Member{{Name: "name", Pos: n.Pos, Value: n}}}
	}
	r.fields(n, "require", map[string]func(*document.Node, document.Pos){
		"name":    func(v *document.Node, _ document.Pos) { q.match.globs = []string{r.text(v, "require.name")} },
		"source":  func(v *document.Node, _ document.Pos) { q.match.sources = r.sources(v, "require.source") },
		"version": func(v *document.Node, _ document.Pos) { q.match.version = r.version(v, "require.version") },
		"digest":  func(v *document.Node, _ document.Pos) { q.match.digests = r.digests(v, "require.digest") },
		"onFailure": func(v *document.Node, _ document.Pos) {
			q.AllowOnFailure = r.word(v, "require.onFailure", "deny", "allow") == 1
		},
		"reason": func(v *document.Node, _ document.Pos) { q.Reason = r.text(v, "require.reason") },
	})
	if len(q.match.globs) == 0 || strings.Contains(q.match.globs[0], "*") {
		r.fault(n.Pos, `write {"name": "guard"}`, "a requirement must name one extension")
		return nil
	}
	q.At.Rule = "require " + q.match.globs[0]
	return q
}

func (r *reader) recommendation(l *layer, n *document.Node) {
	c := Recommendation{At: r.origin(n.Pos, "recommend")}
	r.fields(n, "recommend", map[string]func(*document.Node, document.Pos){
		"name": func(v *document.Node, _ document.Pos) { c.Name = r.text(v, "recommend.name") },
		"source": func(v *document.Node, _ document.Pos) {
			c.Source = r.text(v, "recommend.source")
			if _, err := NormalizeSource(c.Source); err != nil {
				r.fault(v.Pos, "for example https://example.org/team/ext", "recommend.source: %v", err)
			}
		},
		"reason": func(v *document.Node, _ document.Pos) { c.Reason = r.text(v, "recommend.reason") },
	})
	if c.Name == "" {
		r.fault(n.Pos, `write {"name": "x", "source": "https://…"}`, "a recommendation must name an extension")
	}
	l.recommend = append(l.recommend, c)
}
