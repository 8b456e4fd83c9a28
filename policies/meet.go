package policies

import (
	"slices"
	"sort"
)

// Meet is the set of rights that both grants hold, as far as a grant can write
// it down; where it cannot, it is smaller and never larger.
func Meet(a, b *Grant) *Grant {
	switch {
	case a == nil || b == nil:
		return &Grant{}
	case a.All:
		return b.withLimits(a.Limits)
	case b.All:
		return a.withLimits(b.Limits)
	}
	return &Grant{
		Commands: meetLists(a.Commands, b.Commands, globInsideFold),
		Tools:    meetLists(a.Tools, b.Tools, globInside),
		CallTool: meetLists(a.CallTool, b.CallTool, globInside),
		Events:   meetEvents(a, b), Intercept: meetIntercepts(a, b),
		Panels: a.Panels && b.Panels, Notify: a.Notify && b.Notify,
		Submit: min(a.Submit, b.Submit), SystemPrompt: min(a.SystemPrompt, b.SystemPrompt),
		FSRead:     meetLists(append(slices.Clip(a.FSRead), a.FSWrite...), append(slices.Clip(b.FSRead), b.FSWrite...), rootInside),
		FSWrite:    meetLists(a.FSWrite, b.FSWrite, rootInside),
		FSDeny:     union(a.FSDeny, b.FSDeny),
		NetConnect: meetLists(a.NetConnect, b.NetConnect, addressInside),
		EnvPass:    meetLists(a.EnvPass, b.EnvPass, same), EnvSecrets: meetLists(a.EnvSecrets, b.EnvSecrets, same),
		ExecRun:   meetPrograms(a, b),
		ExecShell: a.ExecShell && b.ExecShell,
		Limits:    a.Limits.meet(b.Limits),
	}
}

func (g *Grant) withLimits(l Limits) *Grant {
	out := *g
	out.Limits = out.Limits.meet(l)
	return &out
}

func same(a, b string) bool { return a == b }

// meetPrograms minds that a shell can start any program.
func meetPrograms(a, b *Grant) []string {
	switch {
	case a.ExecShell && b.ExecShell:
		return union(a.ExecRun, b.ExecRun)
	case a.ExecShell:
		return slices.Clone(b.ExecRun)
	case b.ExecShell:
		return slices.Clone(a.ExecRun)
	}
	return meetLists(a.ExecRun, b.ExecRun, globInside)
}

// meetLists keeps of each pair the one inside the other.
func meetLists(a, b []string, inside func(inner, outer string) bool) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			switch {
			case inside(x, y):
				out = append(out, x)
			case inside(y, x):
				out = append(out, y)
			}
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	sort.Strings(out)
	return slices.Compact(out)
}

// eventNames are the events that either grant speaks of by name.
func eventNames[V any](a, b map[string]V) []string {
	var out []string
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		out = append(out, name)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func meetEvents(a, b *Grant) map[string]Level {
	var out map[string]Level
	for _, name := range eventNames(a.Events, b.Events) {
		if out == nil {
			out = map[string]Level{}
		}
		out[name] = min(a.EventLevel(name), b.EventLevel(name))
	}
	return out
}

func meetIntercepts(a, b *Grant) map[string]Intercept {
	var out map[string]Intercept
	for _, name := range eventNames(a.Intercept, b.Intercept) {
		x, okX := a.InterceptOf(name)
		y, okY := b.InterceptOf(name)
		if !okX || !okY {
			continue
		}
		if out == nil {
			out = map[string]Intercept{}
		}
		out[name] = x.meet(y)
	}
	return out
}

func (i Intercept) meet(j Intercept) Intercept {
	m := Intercept{
		Block: i.Block && j.Block, Rewrite: i.Rewrite && j.Rewrite,
		DenyOnFailure: i.DenyOnFailure || j.DenyOnFailure,
		Timeout:       i.Timeout, Tools: i.Tools,
	}
	if j.Timeout > 0 && (m.Timeout == 0 || j.Timeout < m.Timeout) {
		m.Timeout = j.Timeout
	}
	switch {
	case i.Tools == nil:
		m.Tools = j.Tools
	case j.Tools != nil:
		m.Tools = append([]string{}, meetLists(i.Tools, j.Tools, globInside)...)
	}
	return m
}

// Join is what either grant holds: the rules of one layer add up.
func Join(a, b *Grant) *Grant {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.All || b.All:
		return &Grant{All: true, Limits: a.Limits.meet(b.Limits)}
	}
	out := &Grant{
		Commands: union(a.Commands, b.Commands), Tools: union(a.Tools, b.Tools), CallTool: union(a.CallTool, b.CallTool),
		Events: map[string]Level{}, Intercept: map[string]Intercept{},
		Panels: a.Panels || b.Panels, Notify: a.Notify || b.Notify,
		Submit: max(a.Submit, b.Submit), SystemPrompt: max(a.SystemPrompt, b.SystemPrompt),
		FSRead: union(a.FSRead, b.FSRead), FSWrite: union(a.FSWrite, b.FSWrite), FSDeny: union(a.FSDeny, b.FSDeny),
		NetConnect: union(a.NetConnect, b.NetConnect),
		EnvPass:    union(a.EnvPass, b.EnvPass), EnvSecrets: union(a.EnvSecrets, b.EnvSecrets),
		ExecRun: union(a.ExecRun, b.ExecRun), ExecShell: a.ExecShell || b.ExecShell,
		Limits: a.Limits.meet(b.Limits),
	}
	for _, name := range eventNames(a.Events, b.Events) {
		out.Events[name] = max(a.EventLevel(name), b.EventLevel(name))
	}
	for _, name := range eventNames(a.Intercept, b.Intercept) {
		x, okX := a.InterceptOf(name)
		y, okY := b.InterceptOf(name)
		switch {
		case !okX:
			out.Intercept[name] = y
		case !okY:
			out.Intercept[name] = x
		default:
			out.Intercept[name] = x.join(y)
		}
	}
	return out
}

func (i Intercept) join(j Intercept) Intercept {
	m := Intercept{
		Block: i.Block || j.Block, Rewrite: i.Rewrite || j.Rewrite,
		// What is to be refused stays refused, and the shorter wait holds.
		DenyOnFailure: i.DenyOnFailure || j.DenyOnFailure, Timeout: i.Timeout,
	}
	if j.Timeout > 0 && (m.Timeout == 0 || j.Timeout < m.Timeout) {
		m.Timeout = j.Timeout
	}
	if i.Tools != nil && j.Tools != nil {
		m.Tools = union(i.Tools, j.Tools)
	}
	return m
}
