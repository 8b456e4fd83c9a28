package policies

import "slices"

// narrowed tells whether some rule keeps a right from the extension.
func (b *Bound) narrowed() bool {
	return slices.ContainsFunc(allRights, func(a Atom) bool { return b.Use(a.Cap, a.Value).Verdict != Allow })
}

// onSystem are the capabilities that a process has from its user, and not from
// the protocol.
var onSystem = []Capability{FSRead, FSWrite, NetConnect, EnvPass, EnvSecrets, ExecRun, ExecShell}

// Reach is Granted for whoever builds the extension's confinement: it is All
// where nothing keeps a right on the system from it, whatever is kept from it of
// the protocol.
func (b *Bound) Reach() *Grant {
	g := b.Granted()
	if b.load.Verdict == Deny || !b.bounds.All {
		return g
	}
	for _, a := range allRights {
		if slices.Contains(onSystem, a.Cap) && b.Use(a.Cap, a.Value).Verdict != Allow {
			return g
		}
	}
	return &Grant{All: true, Limits: b.Limits()}
}

// keepAllowed is bounds without what a rule denies or wants asked. Of rights
// without end it writes out those that it can.
func (b *Bound) keepAllowed() *Grant {
	from := b.bounds
	if from.All {
		from = ProtocolRights()
		from.FSRead, from.FSWrite = []string{"/"}, []string{"/"}
		from.NetConnect, from.EnvPass = []string{"*:*"}, []string{"*"}
		from.ExecRun, from.ExecShell = []string{"*"}, true
	}
	allowed := func(c Capability) func(string) bool {
		return func(v string) bool { return b.Use(c, v).Verdict == Allow }
	}
	out := &Grant{
		Commands: keep(from.Commands, allowed(Commands)), Tools: keep(from.Tools, allowed(Tools)), CallTool: keep(from.CallTool, allowed(CallTool)),
		Panels: b.Use(Panels, "").Verdict == Allow, Notify: b.Use(Notify, "").Verdict == Allow,
		Submit: b.level(Submit, submitWords), SystemPrompt: b.level(SystemPrompt, systemPromptWords),
		NetConnect: keep(from.NetConnect, allowed(NetConnect)),
		EnvPass:    keep(from.EnvPass, allowed(EnvPass)), EnvSecrets: keep(from.EnvSecrets, allowed(EnvSecrets)),
		ExecRun: keep(from.ExecRun, allowed(ExecRun)), ExecShell: b.Use(ExecShell, "").Verdict == Allow && b.Use(ExecRun, "*").Verdict == Allow,
		FSDeny: from.FSDeny, Limits: b.Limits(),
	}
	out.FSRead = b.keepRoots(FSRead, from.FSRead, out)
	// What may be written may be read, so both must be allowed.
	out.FSWrite = b.keepRoots(FSRead, b.keepRoots(FSWrite, from.FSWrite, out), out)
	for event := range from.Events {
		if level := b.Event(event); level > LevelNone {
			if out.Events == nil {
				out.Events = map[string]Level{}
			}
			out.Events[event] = level
		}
	}
	for event := range from.Intercept {
		if i, ok := b.Intercept(event); ok {
			if out.Intercept == nil {
				out.Intercept = map[string]Intercept{}
			}
			out.Intercept[event] = i
		}
	}
	return out
}

func keep(list []string, allowed func(string) bool) []string {
	var out []string
	for _, v := range list {
		if allowed(v) {
			out = append(out, v)
		}
	}
	return out
}

// level is the highest word that is allowed.
func (b *Bound) level(c Capability, words []string) uint8 {
	for i := len(words) - 1; i > 0; i-- {
		if b.Use(c, words[i]).Verdict == Allow {
			return uint8(i)
		}
	}
	return 0
}

// keepRoots keeps the folders that are allowed, and those in which only smaller
// folders are denied; these become holes in out.
func (b *Bound) keepRoots(c Capability, roots []string, out *Grant) []string {
	var kept []string
	for _, root := range roots {
		if b.Use(c, root).Verdict == Allow {
			kept = append(kept, root)
			continue
		}
		if holes, ok := b.holes(c, root); ok {
			kept = append(kept, root)
			out.FSDeny = union(out.FSDeny, holes)
		}
	}
	return kept
}

// holes lists the folders below root that rules deny, and tells whether these
// are all that keeps root from being allowed.
func (b *Bound) holes(c Capability, root string) (holes []string, only bool) {
	for i := range b.layers {
		l := b.layers[i]
		if l.skipped != "" {
			continue
		}
		rest := l
		rest.rules = nil
		for j := range l.rules {
			r := l.rules[j]
			if r.decision == Deny && len(r.match.requests) > 0 && !r.maybe.excepted {
				inner, all := innerRoots(r.match.requests, c, root)
				holes = append(holes, inner...)
				if all {
					continue
				}
			}
			rest.rules = append(rest.rules, r)
		}
		rest.index()
		if !rest.listed && l.listed {
			continue
		}
		if v, _ := rest.use(c, root); v != Allow {
			return nil, false
		}
	}
	return holes, len(holes) > 0 && (b.rights.Covers(c, root))
}

// innerRoots lists the selected folders strictly below root, and tells whether
// nothing else that is selected touches it.
func innerRoots(list []selector, c Capability, root string) (inner []string, all bool) {
	all = true
	for _, s := range list {
		switch {
		case s.cap != c || !s.touches(c, root):
		case s.value != "*" && s.value != root && rootInside(s.value, root):
			inner = append(inner, s.value)
		default:
			all = false
		}
	}
	return inner, all
}
