package commands

import (
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/policies"
	"mvdan.cc/sh/v3/syntax"
)

// walk judges every command below a node. Nothing is skipped: a command is a
// command in whatever it stands.
func (j *judge) walk(s *script, root syntax.Node) {
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			j.assigns(s, n, n.Assigns)
			if len(n.Args) > 0 {
				j.call(s, call{words: wordsOf(n.Args)}, s.at(n))
			}
		case *syntax.DeclClause:
			j.declare(s, n)
		case *syntax.Redirect:
			j.redirect(s, n)
		case *syntax.WordIter:
			j.variable(s, n, n.Name.Value)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			j.arithmetic(s, n)
		case *syntax.ParamExp:
			j.expansion(s, n)
		case *syntax.BinaryTest:
			if isArithmetic(n.Op) {
				j.arithmetic(s, n)
			}
		case *syntax.TestClause:
			j.passed(s, n)
		case *syntax.Comment:
			// A shell ends a comment at the end of its line. The parser goes on
			// where a backslash stands there, and would miss what follows.
			if strings.Contains(n.Text, "\n") {
				j.ask(s, n, "a comment ends in a backslash, so what follows cannot be judged")
			}
		case *syntax.TestDecl:
			j.ask(s, n, "a test declaration is not a command of the shell")
		}
		return true
	})
}

// passed adds a part that does nothing by itself.
func (j *judge) passed(s *script, n syntax.Node) {
	d := s.at(n)
	d.Verdict, d.Reason = policies.Allow, "it runs nothing by itself"
	j.add(d)
}

// assigns judges the variables set before a command, or alone.
func (j *judge) assigns(s *script, n *syntax.CallExpr, list []*syntax.Assign) {
	for _, a := range list {
		if a.Name != nil {
			j.variable(s, n, a.Name.Value)
		}
		if a.Index != nil {
			j.arithmetic(s, a)
		}
	}
}

// declare judges export, declare and their kin: variables, and the rules that
// restrict them by name.
func (j *judge) declare(s *script, n *syntax.DeclClause) {
	c := call{words: []word{{n.Variant.Value, true}}}
	for _, a := range n.Args {
		switch {
		case a.Name != nil:
			c.words = append(c.words, word{})
			j.variable(s, n, a.Name.Value)
		case a.Value != nil:
			w := wordOf(a.Value)
			c.words = append(c.words, w)
			if !w.known || strings.Contains(w.text, "=") || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "in") {
				j.ask(s, n, "what it declares is known only when it runs")
			}
		}
	}
	d := j.rules.own(c, s.at(n))
	if d.Rule == "" {
		d.Verdict, d.Reason = policies.Allow, "it runs nothing by itself"
	}
	j.add(d)
}

// variable judges setting a variable: some change what later commands do.
func (j *judge) variable(s *script, n syntax.Node, name string) {
	if harmless(name) {
		j.passed(s, n)
		return
	}
	j.ask(s, n, fmt.Sprintf("it sets %s, and programs may obey that", name))
}

// harmlessNames are variables that programs know and that make them do
// nothing else.
var harmlessNames = map[string]bool{
	"LANG": true, "LANGUAGE": true, "TZ": true, "CI": true, "NO_COLOR": true, "FORCE_COLOR": true, "CLICOLOR": true,
	"COLUMNS": true, "LINES": true, "TERM": true, "CGO_ENABLED": true, "GOOS": true, "GOARCH": true, "GOMAXPROCS": true,
	"NODE_ENV": true, "RUST_BACKTRACE": true, "DEBUG": true, "VERBOSE": true,
}

// harmless also holds for names that scripts use for themselves: one word of
// lower case. Whatever programs obey is in upper case or has an underscore.
func harmless(name string) bool {
	own := name != "" && strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
	return own || harmlessNames[name] || strings.HasPrefix(name, "LC_")
}

// redirect judges where input comes from and output goes.
func (j *judge) redirect(s *script, r *syntax.Redirect) {
	if r.Word == nil {
		return
	}
	w := wordOf(r.Word)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return // text; commands in it are met on the walk
	case syntax.DplIn, syntax.DplOut:
		if w.known && strings.Trim(w.text, "0123456789-") == "" {
			return
		}
	case syntax.RdrIn:
		if w.known && !strings.HasPrefix(w.text, "/dev/") || w.text == "/dev/null" || w.text == "/dev/stdin" || isProcess(r.Word) {
			return
		}
	default:
		if w.text == "/dev/null" || w.text == "/dev/stdout" || w.text == "/dev/stderr" || isProcess(r.Word) {
			return
		}
	}
	d := s.at(r)
	d.Verdict, d.Reason = policies.Ask, "it opens a file that is known only when it runs"
	if w.known {
		d.Reason = fmt.Sprintf("it writes to %q", w.text)
		if r.Op == syntax.RdrIn {
			d.Reason = fmt.Sprintf("it reads from %q", w.text)
		} else if j.rules.WriteTo != nil {
			d.Verdict = j.rules.WriteTo(w.text)
		}
	}
	j.add(d)
}

// isProcess reports whether the word is a process substitution, whose commands
// are judged.
func isProcess(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// arithmetic judges a calculation. Bash looks at the value of a variable in it
// as at a further expression, and one with an index can hold a command.
func (j *judge) arithmetic(s *script, n syntax.Node) {
	numbers := true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			numbers = numbers && strings.Trim(n.Value, "0123456789") == ""
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.DblQuoted:
			numbers = false
		}
		return numbers
	})
	if !numbers {
		j.ask(s, n, "it calculates with variables, and bash evaluates their values")
		return
	}
	j.passed(s, n)
}

func isArithmetic(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}

// expansion judges the expansions that evaluate what a variable holds.
func (j *judge) expansion(s *script, p *syntax.ParamExp) {
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps || p.Excl {
		j.ask(s, p, "it evaluates the value of a variable")
	}
	if p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) && p.Param != nil {
		j.variable(s, p, p.Param.Value)
	}
	if p.Slice != nil || p.Index != nil && !isAll(p.Index) {
		j.arithmetic(s, p)
	}
}

// isAll reports whether an index is @ or *.
func isAll(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}
