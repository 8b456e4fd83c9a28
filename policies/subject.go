package policies

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// A Subject is an extension, with all that is known of it before it starts.
type Subject struct {
	Name    string
	Version string // empty: not known
	// Source is where it comes from, in any spelling that NormalizeSource
	// reads; empty: not known.
	Source string
	// Claimed is where it is said to come from, where that is not known. No rule
	// goes by it.
	Claimed   string
	Digest    string // "zt1:…" of its folder; empty: not known
	Transport string // "subprocess" or "wasi"
	Scope     Scope

	// Requests are the permissions of its manifest. Nil: it declares none.
	Requests *Grant
	// Limits are those of its manifest: what it expects to need at most.
	Limits Limits
	// Approval is what the user has approved for exactly these bytes of a
	// project's extension. Nil: nothing.
	Approval *Grant
	// Untrusted says that its project is not trusted at all; WhyUntrusted may
	// say more of that, and UntrustedRemedy what helps instead of a yes.
	Untrusted       bool
	WhyUntrusted    string
	UntrustedRemedy string

	// Agreed says that its user, who was asked, has it load for this run. Nobody's
	// denial, and no want of trust in its project, is answered by that.
	Agreed bool

	Lock LockFacts

	// Launcher names a program that would fetch what it runs ("npx -y"); or is
	// empty.
	Launcher string
	// Unenforced lists what this system cannot hold it to.
	Unenforced []string
	// Roots are the folders that ${project} and the like stand for.
	Roots Roots

	source  string // normalized
	version *semver.Version
	asks    []Atom // of asked
	asked   *Grant // Requests, with what goes without saying
}

// LockFacts is what comparing an extension to the lock gave.
type LockFacts struct {
	Kept            bool     // there is a lock file
	Entry           bool     // it has an entry for the extension
	ContentDrift    bool     // the bytes are others
	Changed         []string // files that are others, as far as known
	SourceDrift     bool     // it comes from elsewhere
	DescriptorDrift bool     // it contributes something else
	PlatformMissing bool     // the entry is for other platforms
	Permissions     *Grant   // as approved
}

// Roots are absolute paths, or empty where there is no such folder.
type Roots struct{ Project, Data, Extension, Tmp string }

// prepare fills in what follows from the fields.
func (s *Subject) prepare() {
	s.source, _ = NormalizeSource(s.Source) // one that cannot be read is not known
	s.version = parseVersion(s.Version)
	s.asked = s.Roots.expand(AskedFor(s.Requests, s.Transport)).withLimits(s.Limits)
	s.asks = s.asked.Atoms()
}

// AskedFor is what an extension asks for, given the permissions of its
// manifest. One that declares none asks for all that its transport can give: a
// process has the rights of its user, a WebAssembly module those of the
// protocol. One that speaks of files, network and the like only asks for every
// right of the protocol besides.
func AskedFor(permissions *Grant, transport string) *Grant {
	switch {
	case permissions == nil && transport == "wasi":
		return ProtocolRights()
	case permissions == nil:
		return &Grant{All: true}
	case permissions.All || permissions.speaksOfProtocol():
		return permissions
	}
	out := ProtocolRights()
	out.FSRead, out.FSWrite, out.FSDeny = permissions.FSRead, permissions.FSWrite, permissions.FSDeny
	out.NetConnect, out.EnvPass, out.EnvSecrets = permissions.NetConnect, permissions.EnvPass, permissions.EnvSecrets
	out.ExecRun, out.ExecShell, out.Limits = permissions.ExecRun, permissions.ExecShell, permissions.Limits
	return out
}

func (g *Grant) speaksOfProtocol() bool {
	return g.Commands != nil || g.Tools != nil || g.CallTool != nil || g.Events != nil || g.Intercept != nil ||
		g.Panels || g.Notify || g.Submit > 0 || g.SystemPrompt > 0
}

// expand puts folders in the place of ${project} and the like. A root for which
// there is no folder is dropped: nothing lies inside it.
func (r Roots) expand(g *Grant) *Grant {
	if g == nil || g.All || r == (Roots{}) {
		return g
	}
	out := *g
	out.FSRead, out.FSWrite, out.FSDeny = r.paths(g.FSRead), r.paths(g.FSWrite), r.paths(g.FSDeny)
	return &out
}

func (r Roots) paths(list []string) []string {
	var out []string
	for _, p := range list {
		if p, ok := r.path(p); ok {
			out = append(out, p)
		}
	}
	return out
}

func (r Roots) path(p string) (string, bool) {
	for name, dir := range map[string]string{"${project}": r.Project, "${data}": r.Data, "${extension}": r.Extension, "${tmp}": r.Tmp} {
		if rest, ok := strings.CutPrefix(p, name); ok {
			return filepath.ToSlash(dir) + rest, dir != ""
		}
	}
	return p, true
}

func (r Roots) selectors(list []selector) []selector {
	if r == (Roots{}) {
		return list
	}
	out := slices.Clone(list)
	for i, s := range out {
		if s.cap == FSRead || s.cap == FSWrite {
			if p, ok := r.path(s.value); ok {
				out[i].value = p
			}
		}
	}
	return out
}
