package policies

import "slices"

// ruleIndex sorts the rules of a layer by the capability that they may have a
// say in, each with only those of its selectors that speak of it, so that a
// question looks at little else. The last place is for capabilities that are
// not known.
type ruleIndex [capabilityCount + 1][]*boundRule

// index prepares the layer for questions. It follows every change of its rules.
func (l *boundLayer) index() {
	l.listed = slices.ContainsFunc(l.rules, func(r boundRule) bool { return r.sure.on })
	l.byRight = ruleIndex{}
	for i := range l.byRight {
		for j := range l.rules {
			if r := l.rules[j].onlyOf(i); r != nil {
				l.byRight[i] = append(l.byRight[i], r)
			}
		}
	}
}

// onlyOf is the rule as far as it speaks of a capability; nil where it does not.
func (r *boundRule) onlyOf(capability int) *boundRule {
	requests := selectorsOf(r.match.requests, capability)
	if len(requests) == len(r.match.requests) {
		return r
	}
	if len(requests) == 0 {
		return nil
	}
	only := *r
	only.match.requests = requests
	return &only
}

// selectorsOf keeps the selectors that can have to do with a capability.
func selectorsOf(list []selector, capability int) []selector {
	var out []selector
	for _, s := range list {
		if s.speaksOf(capability) {
			out = append(out, s)
		}
	}
	return out
}

// speaksOf tells whether the selector can touch or cover a right of the
// capability: its own, or one that is part of the other.
func (s selector) speaksOf(capability int) bool {
	if capability == capabilityCount {
		return false
	}
	switch c := Capabilities[capability]; s.cap {
	case ExecRun, ExecShell:
		return c == ExecRun || c == ExecShell
	case FSRead, FSWrite:
		return c == FSRead || c == FSWrite
	default:
		return s.cap == c
	}
}

// capabilityCount is the length of [Capabilities].
const capabilityCount = 16

// place is the capability's index in [Capabilities], or capabilityCount for one
// that is not known.
func (c Capability) place() int {
	switch c {
	case Commands:
		return 0
	case Tools:
		return 1
	case Events:
		return 2
	case Intercepts:
		return 3
	case Panels:
		return 4
	case Notify:
		return 5
	case Submit:
		return 6
	case SystemPrompt:
		return 7
	case CallTool:
		return 8
	case FSRead:
		return 9
	case FSWrite:
		return 10
	case NetConnect:
		return 11
	case EnvPass:
		return 12
	case EnvSecrets:
		return 13
	case ExecRun:
		return 14
	case ExecShell:
		return 15
	}
	return capabilityCount
}
