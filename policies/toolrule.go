package policies

import (
	"strings"

	"github.com/patriceckhart/zot/config/document"
)

// A ToolRule gives a verdict on every call of the tools that its pattern names.
type ToolRule struct {
	Tool    string // name; * stands for any run of characters
	Verdict Verdict
	At      Origin
}

// A CommandRule gives a verdict on shell commands; package commands reads its
// pattern.
type CommandRule struct {
	Pattern string
	Verdict Verdict
	At      Origin
}

// CommandRules are the rules of one layer for the commands of the bash tool.
type CommandRules struct {
	Layer Layer
	Rules []CommandRule
	// Unlisted is the layer's verdict on a command that none of the rules is
	// about; Allow where it says nothing.
	Unlisted   Verdict
	UnlistedAt Origin
}

// shellTool is the tool whose calls are judged by their commands.
const shellTool = "bash"

// tools reads "tools": a verdict for each tool, and for bash also lists of
// command patterns.
func (r *reader) tools(l *layer, n *document.Node) {
	if n.Kind != document.Object {
		r.fault(n.Pos, `write {"write": "ask", "bash": {"deny": ["rm *"]}}`, "tools must be an object, and is %s", n.Kind)
		return
	}
	seen := map[string]bool{}
	for _, m := range n.Members {
		switch {
		case strings.HasPrefix(m.Name, "x-"):
			continue
		case seen[m.Name]:
			r.fault(m.Pos, "keep one of the two", "tools has the key %q twice", m.Name)
		case m.Name == "":
			r.fault(m.Pos, "name a tool", "tools has an empty name")
		case m.Name == shellTool && m.Value.Kind == document.Object:
			r.commands(l, m.Value)
		default:
			v := Verdict(r.word(m.Value, "tools."+m.Name, "deny", "ask", "allow"))
			l.tools = append(l.tools, ToolRule{Tool: m.Name, Verdict: v, At: r.origin(m.Pos, "tools."+m.Name)})
		}
		seen[m.Name] = true
	}
}

func (r *reader) commands(l *layer, n *document.Node) {
	c := &CommandRules{Layer: l.layer, Unlisted: Allow}
	list := func(v Verdict) fieldReader {
		return func(n *document.Node, _ document.Pos) {
			r.list(n, "tools.bash."+v.String(), func(_ int, item *document.Node) {
				if item.Kind != document.String || strings.TrimSpace(item.Text) == "" {
					r.fault(item.Pos, `write patterns: ["git push *"]`, "tools.bash.%s holds %s", v, emptyOr(item))
					return
				}
				c.Rules = append(c.Rules, CommandRule{item.Text, v, r.origin(item.Pos, "tools.bash."+v.String()+" "+item.Text)})
			})
		}
	}
	r.fields(n, "tools.bash", map[string]fieldReader{
		"deny": list(Deny), "ask": list(Ask), "allow": list(Allow),
		"unlisted": func(v *document.Node, p document.Pos) {
			c.Unlisted, c.UnlistedAt = Verdict(r.word(v, "tools.bash.unlisted", "deny", "ask", "inherit")), r.origin(p, "tools.bash.unlisted")
		},
	})
	l.commands = c
}

// Commands lists the rules for shell commands, layer by layer. Each layer gives
// its verdict on a command line, and the most restrictive one holds.
func (s *Set) Commands() []CommandRules {
	var out []CommandRules
	for _, l := range s.layers {
		if l.commands != nil && l.broken == nil {
			out = append(out, *l.commands)
		}
	}
	return out
}

// Tool decides about a call of a tool by its name alone: the most restrictive
// verdict of all layers, Allow where none speaks of it. The name is the one the
// model uses, whoever provides the tool.
func (s *Set) Tool(name string) Decision {
	d := Decision{Verdict: Allow, Code: CodeAllowed, By: Origin{Builtin: true}}
	for _, l := range s.layers {
		if l.broken != nil {
			continue // it closes extensions; the user's own tools still work
		}
		for _, r := range l.tools {
			if r.Verdict < d.Verdict && glob(r.Tool, name) {
				d = Decision{Verdict: r.Verdict, Code: CodeDenyRule, By: r.At, Reason: denyReason(r.Verdict), Remedy: remedyOf(l.layer)}
			}
		}
	}
	return d
}

// Remedy says what would change a decision of that layer.
func Remedy(l Layer) string { return remedyOf(l) }
