package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/commands"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

// Tools judges calls of tools by the policy: by name, and those of bash also by
// the commands in them. It may be used by several goroutines.
type Tools struct {
	// Shell is the program that runs commands; empty means bash or sh. It is
	// not to be changed once calls are judged.
	Shell string

	set    *policies.Set
	shells []shell
}

// A shell is the rules of one layer for commands.
type shell struct {
	layer policies.CommandRules
	rules *commands.Rules
}

// AnyCommand is the rule of decisions about commands that no pattern speaks of.
const AnyCommand = "tools.bash"

// NewTools reads the patterns of all layers. The error names the place of one
// that cannot be read; then nothing may be judged by the others.
func NewTools(set *policies.Set) (*Tools, error) {
	t := &Tools{set: set}
	for _, layer := range set.Commands() {
		var rules []commands.Rule
		for i, r := range layer.Rules {
			if _, err := commands.Compile([]commands.Rule{{Pattern: r.Pattern}}, policies.Deny); err != nil {
				return nil, fmt.Errorf("%s: %w", r.At, err)
			}
			rules = append(rules, commands.Rule{ID: fmt.Sprint(i), Verdict: r.Verdict, Pattern: r.Pattern})
		}
		compiled, err := commands.Compile(rules, layer.Unlisted)
		if err != nil {
			return nil, err
		}
		// Where a layer only names what it minds, it does not mind files.
		compiled.WriteTo = func(string) policies.Verdict { return layer.Unlisted }
		t.shells = append(t.shells, shell{layer, compiled})
	}
	return t, nil
}

// Decide judges a call on the arguments that would run.
func (t *Tools) Decide(tool string, args json.RawMessage) policies.Decision {
	d := t.set.Tool(tool)
	if tool != "bash" || len(t.shells) == 0 {
		return d
	}
	line, err := builtin.CommandLine(args)
	if err != nil {
		return d // the tool itself refuses it, by the same reading
	}
	for _, s := range t.shells {
		if by := s.judge(line); by.Verdict < d.Verdict {
			d = by
		}
	}
	if d.Verdict == policies.Allow && !commands.Reads(t.Shell) {
		d = policies.Decision{
			Verdict: policies.Ask, Code: policies.CodeDenyRule, By: policies.Origin{Layer: t.shells[0].layer.Layer, Rule: AnyCommand},
			Reason: fmt.Sprintf("commands of %s cannot be judged by the rules", t.Shell), Remedy: "let bash or sh run commands: unset bash.shell",
		}
	}
	return d
}

// Asking lists what wants a call asked about: one rule or several, since a line
// may hold several commands. AnyCommand stands for a command that no pattern
// speaks of.
func (t *Tools) Asking(tool string, args json.RawMessage) []string {
	var rules []string
	if d := t.set.Tool(tool); d.Verdict == policies.Ask {
		rules = append(rules, d.By.Rule)
	}
	if tool != "bash" || len(t.shells) == 0 {
		return rules
	}
	line, err := builtin.CommandLine(args)
	if err != nil {
		return rules
	}
	if !commands.Reads(t.Shell) {
		rules = append(rules, AnyCommand)
	}
	for _, s := range t.shells {
		for _, part := range s.rules.Judge(line).Parts {
			if part.Verdict == policies.Ask {
				rules = append(rules, s.origin(part.Rule).Rule)
			}
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// origin is the place of a rule of the layer, or of what it says of commands
// that none speaks of.
func (s shell) origin(rule string) policies.Origin {
	if i, err := strconv.Atoi(rule); err == nil && i < len(s.layer.Rules) {
		return s.layer.Rules[i].At
	}
	at := s.layer.UnlistedAt
	if at.File == "" && len(s.layer.Rules) > 0 {
		at = s.layer.Rules[0].At
	}
	return policies.Origin{Layer: s.layer.Layer, File: at.File, Line: at.Line, Column: at.Column, Rule: AnyCommand}
}

func (s shell) judge(command string) policies.Decision {
	got := s.rules.Judge(command)
	d := policies.Decision{
		Verdict: got.Verdict, Code: policies.CodeDenyRule, Reason: got.Reason, Remedy: policies.Remedy(s.layer.Layer),
		By: s.origin(got.Rule),
	}
	if d.Reason == "" {
		d.Reason = "a rule for commands"
	}
	if got.Part != "" && got.Part != command {
		d.Reason += fmt.Sprintf(" (%s)", got.Part)
	}
	return d
}
