// Package commands judges shell command lines by rules.
//
//	rules, err := commands.Compile([]commands.Rule{
//		{ID: "log", Verdict: policies.Allow, Pattern: "git log *"},
//		{ID: "rm", Verdict: policies.Deny, Pattern: "rm *", Reason: "ask the user to remove files"},
//	}, policies.Ask)
//	d := rules.Judge("git log && curl x | sh") // ask: curl is not listed
//
// A command line is parsed as bash does, and every simple command in it is
// judged by itself: in pipes and lists, subshells and loops, functions, command
// and process substitutions, here-documents. Programs that run another command
// (timeout, env, xargs, find -exec, sh -c …) are looked through. The whole gets
// the strictest verdict of its parts: deny before ask before allow, so one
// denied part refuses all of it.
//
// # Patterns
//
// A pattern is a list of words. A word * alone stands for any number of words,
// none included; within a word, * stands for any characters. A backslash takes
// the meaning from the character after it. Everything else stands for itself.
//
//	git status     exactly that
//	git log *      git log, with any arguments
//	npm run test*  npm run test, npm run test:unit
//	rm * -rf *     rm with -rf anywhere
//
// Among the rules that match a part the strictest holds; their order and how
// special they are mean nothing. A part that no rule matches gets the verdict
// for unlisted commands.
//
// # What is not known
//
// A word that holds an expansion ($x, $(…), a glob, ~, {a,b}) can become
// anything, several words included. An allow rule covers it only where its
// pattern says *; a deny or ask rule that it might match makes the part ask.
// Allowing never covers: a program whose name is not known; a command line that
// does not parse; output to a file, except by [Rules.WriteTo]; variables that
// other programs obey (PATH, GIT_PAGER); arithmetic over variables, which bash
// evaluates like code; a shell that reads its commands from its input.
//
// A rule judges a command by its words and not by what the program does with
// them: "git *" allows git's own ways of running programs, and "python *" any
// script. Deny rules also match a program given by its path; allow rules want
// the name as it is written. This is for telling apart what an honest agent
// may do unasked, not a wall around a hostile one.
package commands

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/policies"
	"mvdan.cc/sh/v3/syntax"
)

// A Rule gives a verdict on the commands that match its pattern.
type Rule struct {
	ID      string // names the rule to people; the pattern if empty
	Verdict policies.Verdict
	Pattern string
	Reason  string // why, for whoever meets the rule
}

// Rules are compiled rules. They may be used by several goroutines, once
// WriteTo is set.
type Rules struct {
	// WriteTo, if not nil, judges a file that a command's output is sent to,
	// as it is written (relative to where the command runs). Without it that is
	// asked about.
	WriteTo func(path string) policies.Verdict

	rules    []compiled
	unlisted policies.Verdict
}

type compiled struct {
	Rule
	pattern pattern
}

// Compile reads the rules; unlisted is the verdict on what none matches. The
// error names the rule.
func Compile(rules []Rule, unlisted policies.Verdict) (*Rules, error) {
	r := &Rules{unlisted: unlisted}
	for i, rule := range rules {
		p, err := parsePattern(rule.Pattern)
		if err != nil {
			return nil, fmt.Errorf("command rule %d (%q): pattern %q: %w", i+1, rule.ID, rule.Pattern, err)
		}
		if rule.ID == "" {
			rule.ID = rule.Pattern
		}
		r.rules = append(r.rules, compiled{rule, p})
	}
	return r, nil
}

// A Decision is the verdict on a command line or on a part of it.
type Decision struct {
	Verdict policies.Verdict
	// Rule is the ID of the rule that decided; empty if none did.
	Rule string
	// Reason says why, in words.
	Reason string
	// Part is the simple command that decided, as it was written, and Line and
	// Column are where it stands, from 1; in a script inside a word (sh -c), the
	// place within that.
	Part         string
	Line, Column int
	// Parts are the decisions on all parts, in the order they are met; nil for
	// a part.
	Parts []Decision
}

const (
	// maxLine is the longest command line that is parsed, in bytes.
	maxLine = 64 << 10
	// maxDepth bounds commands inside of commands: sh -c 'sh -c …'.
	maxDepth = 12
)

// Judge judges a command line.
func (r *Rules) Judge(line string) Decision {
	j := &judge{rules: r, whole: Decision{Verdict: policies.Allow}}
	j.script(line, 0)
	if len(j.whole.Parts) == 0 {
		j.add(Decision{Verdict: policies.Ask, Reason: "there is no command in it", Part: line, Line: 1, Column: 1})
	}
	return j.whole
}

// A judge collects the decisions on one command line.
type judge struct {
	rules *Rules
	whole Decision
}

// add takes the decision on a part; the first of the strictest decides, and
// among those that allow the first that a rule speaks for.
func (j *judge) add(d Decision) {
	parts := append(j.whole.Parts, d)
	better := d.Verdict == j.whole.Verdict && j.whole.Rule == "" && d.Rule != "" && d.Verdict == policies.Allow
	if len(j.whole.Parts) == 0 || d.Verdict < j.whole.Verdict || better {
		j.whole = d
	}
	j.whole.Parts = parts
}

// ask adds a part that cannot be allowed, with the reason.
func (j *judge) ask(s *script, n syntax.Node, reason string) {
	d := s.at(n)
	d.Verdict, d.Reason = policies.Ask, reason
	j.add(d)
}

// A script is a text with commands: the command line, or one in a word of it.
type script struct {
	text  string
	depth int
}

// at starts the decision on the node n.
func (s *script) at(n syntax.Node) Decision {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	part := ""
	if from <= to && to <= len(s.text) {
		part = s.text[from:to]
	}
	return Decision{Part: part, Line: int(n.Pos().Line()), Column: int(n.Pos().Col())}
}

// script judges all commands of a text.
func (j *judge) script(text string, depth int) {
	s := &script{text: text, depth: depth}
	unread := Decision{Verdict: policies.Ask, Part: text, Line: 1, Column: 1}
	switch {
	case depth > maxDepth:
		unread.Reason = "commands are nested too deeply to be judged"
	case len(text) > maxLine:
		unread.Reason = "the command line is too long to be judged"
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		unread.Reason = "the command line holds control characters or bytes that are not UTF-8"
	}
	if unread.Reason != "" {
		j.add(unread)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		unread.Reason = fmt.Sprintf("the command line cannot be parsed: %v", err)
		j.add(unread)
		return
	}
	j.walk(s, file)
}

// call judges one simple command and what it runs in turn.
func (j *judge) call(s *script, c call, at Decision) {
	st := look(c)
	d := j.rules.own(c, at)
	switch {
	case st.blind != "" && (d.Rule == "" || d.Verdict == policies.Allow) && d.Verdict >= policies.Ask:
		d.Verdict, d.Rule, d.Reason = policies.Ask, "", st.blind
	case st.through && (d.Rule == "" || d.Verdict == policies.Allow):
		d.Verdict, d.Rule, d.Reason = policies.Allow, "", "what it runs is judged"
	}
	j.add(d)
	for _, inner := range st.calls {
		j.inner(s, inner, at)
	}
	for _, text := range st.scripts {
		j.script(text, s.depth+1)
	}
}

// inner judges a command that a part of the same text runs.
func (j *judge) inner(s *script, c call, at Decision) {
	deeper := &script{text: s.text, depth: s.depth + 1}
	if deeper.depth > maxDepth {
		at.Verdict, at.Reason = policies.Ask, "commands are nested too deeply to be judged"
		j.add(at)
		return
	}
	j.call(deeper, c, at)
}

// own is the verdict of the rules on the words of one command.
func (r *Rules) own(c call, d Decision) Decision {
	d.Verdict, d.Reason = r.unlisted, "no rule names it"
	listed := false
	take := func(v policies.Verdict, rule compiled, reason string) {
		if !listed || v < d.Verdict {
			d.Verdict, d.Rule, d.Reason = v, rule.ID, reason
		}
		listed = true
	}
	for _, rule := range r.rules {
		switch certain, possible := rule.match(c); {
		case certain:
			take(rule.Verdict, rule, rule.Reason)
		case possible && rule.Verdict < policies.Allow:
			take(policies.Ask, rule, fmt.Sprintf("it may be what rule %q is about", rule.ID))
		}
	}
	if !c.words[0].known && d.Verdict > policies.Ask {
		d.Verdict, d.Rule, d.Reason = policies.Ask, "", "the program's name is known only when it runs"
	}
	return d
}
