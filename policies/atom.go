package policies

import "slices"

// An Atom is one right: a capability and a value.
type Atom struct {
	Cap   Capability `json:"capability"`
	Value string     `json:"value,omitempty"`
}

// String is the atom for people: "net.connect api.example.com:443".
func (a Atom) String() string {
	if a.Value == "" {
		return string(a.Cap)
	}
	return string(a.Cap) + " " + a.Value
}

// allRights are the rights of a grant of All, as far as they can be listed:
// the most that each capability can give.
var allRights = []Atom{
	{Commands, "*"}, {Tools, "*"}, {Events, "*=full"}, {Intercepts, "*=block"}, {Intercepts, "*=rewrite"}, {Panels, ""}, {Notify, ""},
	{Submit, "auto"}, {SystemPrompt, "replace"}, {CallTool, "*"}, {FSRead, "*"}, {FSWrite, "*"}, {NetConnect, "*:*"}, {NetConnect, "localhost:*"},
	{EnvPass, "*"}, {EnvSecrets, "*"}, {ExecRun, "*"}, {ExecShell, ""},
}

// Atoms lists the rights of the grant one by one, in a fixed order. Of a grant
// of All it lists the most that each capability can give.
func (g *Grant) Atoms() []Atom {
	var out []Atom
	if g == nil {
		return nil
	}
	if g.All {
		return slices.Clone(allRights)
	}
	add := func(c Capability, values ...string) {
		sorted := slices.Sorted(slices.Values(values))
		for _, v := range slices.Compact(sorted) {
			out = append(out, Atom{c, v})
		}
	}
	flag := func(c Capability, on bool) {
		if on {
			out = append(out, Atom{Cap: c})
		}
	}
	add(Commands, g.Commands...)
	add(Tools, g.Tools...)
	add(Events, g.eventValues()...)
	add(Intercepts, g.interceptValues()...)
	flag(Panels, g.Panels)
	flag(Notify, g.Notify)
	if g.Submit > 0 {
		add(Submit, submitWords[g.Submit])
	}
	if g.SystemPrompt > 0 {
		add(SystemPrompt, systemPromptWords[g.SystemPrompt])
	}
	add(CallTool, g.CallTool...)
	add(FSRead, g.FSRead...)
	add(FSWrite, g.FSWrite...)
	add(NetConnect, g.NetConnect...)
	add(EnvPass, g.EnvPass...)
	add(EnvSecrets, g.EnvSecrets...)
	add(ExecRun, g.ExecRun...)
	flag(ExecShell, g.ExecShell)
	return out
}

func (g *Grant) eventValues() []string {
	var out []string
	for event, level := range g.Events {
		if level > LevelNone {
			out = append(out, event+"="+level.String())
		}
	}
	return out
}

func (g *Grant) interceptValues() []string {
	var out []string
	for event, i := range g.Intercept {
		if !i.Block && !i.Rewrite {
			out = append(out, event)
		}
		if i.Block {
			out = append(out, event+"=block")
		}
		if i.Rewrite {
			out = append(out, event+"=rewrite")
		}
	}
	return out
}

// Missing lists the rights of g that held does not cover: what somebody who
// agreed to held has not agreed to. Folders that held closes and g does not are
// not rights and are found in the fs atoms that reach into them.
func (g *Grant) Missing(held *Grant) []Atom {
	var out []Atom
	for _, a := range g.Atoms() {
		if !held.Covers(a.Cap, a.Value) {
			out = append(out, a)
		}
	}
	return append(out, g.reopened(held)...)
}

// reopened finds folders that held closes inside what g opens.
func (g *Grant) reopened(held *Grant) []Atom {
	if g == nil || held == nil || g.All || held.All {
		return nil
	}
	var out []Atom
	for _, closed := range held.FSDeny {
		if anyRoot(g.FSDeny, closed) {
			continue
		}
		if anyRoot(g.FSWrite, closed) {
			out = append(out, Atom{FSWrite, closed})
		} else if anyRoot(g.FSRead, closed) {
			out = append(out, Atom{FSRead, closed})
		}
	}
	return out
}
