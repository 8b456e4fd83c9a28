package policies

import "strings"

// Untrusted is the decision about what comes with a project that is not trusted.
// why may say more of that. Where nobody can be asked it names what helps there,
// too; remedy is what helps where no question can be asked about it at all.
func Untrusted(why, remedy string, headless bool) Decision {
	d := Decision{Verdict: Ask, Code: CodeUntrusted, By: Origin{Builtin: true, Rule: "trust"}, Reason: "the project is not trusted",
		Remedy: "open zot here and answer yes, or pass --trust for one run"}
	if why != "" {
		d.Reason += ": " + why
	}
	if headless {
		d.Verdict = Deny
		d.Remedy = "open zot here and answer yes; for one run pass --trust, or set ZOT_TRUST_DIGEST to what zot trust digest prints where the files were reviewed"
	}
	if remedy != "" {
		d.Remedy = remedy
	}
	return d
}

// LockCommand is the command that writes the lock that counts for an extension.
func LockCommand(scope Scope) string {
	if scope == ScopeUser {
		return "zot ext lock --user"
	}
	return "zot ext lock"
}

// Relock says what helps where an extension is not what its lock pins: to look
// at it and pin it anew, or to bring back what was pinned. source is where the
// lock says it comes from.
func Relock(scope Scope, source, name string) string {
	back := "put back the files that were pinned"
	if dir, ok := strings.CutPrefix(source, vendored); ok {
		back = "bring back what was pinned, with git checkout " + dir
	}
	return "look at what changed, then pin it with " + LockCommand(scope) + " --update " + name + ", or " + back
}

// thenLock is what is to be done after a change to the extension's files.
func (b *Bound) thenLock() string {
	if !b.sub.Lock.Entry {
		return ""
	}
	return ", then " + LockCommand(b.sub.Scope) + " --update " + b.sub.Name
}
