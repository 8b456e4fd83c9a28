package commands

import (
	"fmt"
	"strconv"

	"github.com/patriceckhart/zot/policies"
)

// Any is the rule of decisions about commands that no pattern speaks of.
const Any = "tools.bash"

// Layers are the patterns of all layers of a policy. They may be used by several
// goroutines.
type Layers struct{ all []layer }

// A layer is the rules of one layer for commands.
type layer struct {
	says  policies.CommandRules
	rules *Rules
}

// Of reads the patterns of all layers. The error names the place of one that
// cannot be read; then nothing may be judged by the others.
func Of(set *policies.Set) (*Layers, error) {
	l := &Layers{}
	for _, says := range set.Commands() {
		var rules []Rule
		for i, r := range says.Rules {
			if _, err := Compile([]Rule{{Pattern: r.Pattern}}, policies.Deny); err != nil {
				return nil, fmt.Errorf("%s: %w", r.At, err)
			}
			rules = append(rules, Rule{ID: fmt.Sprint(i), Verdict: r.Verdict, Pattern: r.Pattern})
		}
		compiled, err := Compile(rules, says.Unlisted)
		if err != nil {
			return nil, err
		}
		// Where a layer only names what it minds, it does not mind files.
		compiled.WriteTo = func(string) policies.Verdict { return says.Unlisted }
		l.all = append(l.all, layer{says, compiled})
	}
	return l, nil
}

// None tells whether no layer has anything to say of commands.
func (l *Layers) None() bool { return len(l.all) == 0 }

// First is the first layer that has.
func (l *Layers) First() policies.Layer { return l.all[0].says.Layer }

// Decide lowers a decision on the tool to what the layers say of a line.
func (l *Layers) Decide(tool policies.Decision, line string) policies.Decision {
	for _, a := range l.all {
		if by := a.judge(line); by.Verdict < tool.Verdict {
			tool = by
		}
	}
	return tool
}

// Asking lists the rules that want something in a line asked about.
func (l *Layers) Asking(line string) []string {
	var rules []string
	for _, a := range l.all {
		for _, part := range a.rules.Judge(line).Parts {
			if part.Verdict == policies.Ask {
				rules = append(rules, a.origin(part.Rule).Rule)
			}
		}
	}
	return rules
}

// origin is the place of a rule of the layer, or of what it says of commands
// that none speaks of.
func (a layer) origin(rule string) policies.Origin {
	if i, err := strconv.Atoi(rule); err == nil && i < len(a.says.Rules) {
		return a.says.Rules[i].At
	}
	at := a.says.UnlistedAt
	if at.File == "" && len(a.says.Rules) > 0 {
		at = a.says.Rules[0].At
	}
	return policies.Origin{Layer: a.says.Layer, File: at.File, Line: at.Line, Column: at.Column, Rule: Any}
}

func (a layer) judge(line string) policies.Decision {
	got := a.rules.Judge(line)
	d := policies.Decision{
		Verdict: got.Verdict, Code: policies.CodeDenyRule, Reason: got.Reason, Remedy: policies.Remedy(a.says.Layer),
		By: a.origin(got.Rule),
	}
	if d.Reason == "" {
		d.Reason = "a rule for commands"
	}
	if got.Part != "" && got.Part != line {
		d.Reason += fmt.Sprintf(" (%s)", got.Part)
	}
	return d
}
