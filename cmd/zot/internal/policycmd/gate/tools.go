package gate

import (
	"encoding/json"
	"fmt"
	"slices"

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

	set   *policies.Set
	lines *commands.Layers
}

// AnyCommand is the rule of decisions about commands that no pattern speaks of.
const AnyCommand = commands.Any

// NewTools reads the patterns of all layers. The error names the place of one
// that cannot be read; then nothing may be judged by the others.
func NewTools(set *policies.Set) (*Tools, error) {
	lines, err := commands.Of(set)
	if err != nil {
		return nil, err
	}
	return &Tools{set: set, lines: lines}, nil
}

// Line judges a command line that bash or sh would run.
func (t *Tools) Line(line string) policies.Decision { return t.lines.Decide(t.set.Tool("bash"), line) }

// Decide judges a call on the arguments that would run.
func (t *Tools) Decide(tool string, args json.RawMessage) policies.Decision {
	d := t.set.Tool(tool)
	if tool != "bash" || t.lines.None() {
		return d
	}
	line, err := builtin.CommandLine(args)
	if err != nil {
		return d // the tool itself refuses it, by the same reading
	}
	d = t.lines.Decide(d, line)
	if d.Verdict == policies.Allow && !commands.Reads(t.Shell) {
		d = policies.Decision{
			Verdict: policies.Ask, Code: policies.CodeDenyRule, By: policies.Origin{Layer: t.lines.First(), Rule: AnyCommand},
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
	if tool != "bash" || t.lines.None() {
		return rules
	}
	line, err := builtin.CommandLine(args)
	if err != nil {
		return rules
	}
	if !commands.Reads(t.Shell) {
		rules = append(rules, AnyCommand)
	}
	rules = append(rules, t.lines.Asking(line)...)
	slices.Sort(rules)
	return slices.Compact(rules)
}
