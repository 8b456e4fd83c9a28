package policycmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

func (c *command) verifyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare every extension, byte by byte, to the lock",
		Long: `Hash every extension and compare it to its entry in the project's lock or your
own. Status 22 where one is not what was pinned.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.verify() },
	}
	c.jsonFlag(cmd)
	return cmd
}

// A check is the state of one extension, as --json prints it.
type verified struct {
	Name   string         `json:"name"`
	Scope  policies.Scope `json:"scope"`
	Dir    string         `json:"dir,omitempty"`
	Digest string         `json:"digest,omitempty"`
	Locked string         `json:"locked,omitempty"`
	State  string         `json:"state"` // ok, unlocked, drift or missing
	Code   policies.Code  `json:"code,omitempty"`
	Detail string         `json:"detail,omitempty"`
}

func (c *command) verify() error {
	p, err := c.open()
	if err != nil {
		return err
	}
	for _, err := range p.gate.LockErrs {
		return err
	}
	all := []verified{}
	seen := map[string]bool{}
	for _, ext := range p.plan.Candidates {
		b := p.gate.Bound(ext)
		if b == nil {
			continue
		}
		v := verifyOne(p, ext, b.Subject().Scope)
		seen[string(v.Scope)+v.Name] = true
		all = append(all, v)
	}
	all = append(all, missing(p, policies.ScopeProject, p.gate.ProjectLock, seen)...)
	all = append(all, missing(p, policies.ScopeUser, p.gate.UserLock, seen)...)
	return c.report(all)
}

func verifyOne(p *place, ext *discovery.Candidate, scope policies.Scope) verified {
	v := verified{Name: ext.Name, Scope: scope, Dir: ext.Dir, State: "ok"}
	t, err := tree.Hash(ext.Dir, tree.Options{})
	if err != nil {
		v.State, v.Code, v.Detail = "drift", policies.CodeLinkOrSpecialFile, err.Error()
		return v
	}
	v.Digest = t.Digest()
	file := p.gate.UserLock
	if scope == policies.ScopeProject {
		file = p.gate.ProjectLock
	}
	facts := file.Facts(lock.Found{Name: ext.Name, Source: p.gate.Claimed(ext), Digest: v.Digest, Descriptors: gate.Descriptors(ext), Platform: gate.Platform})
	if !facts.Entry {
		v.State, v.Code, v.Detail = "unlocked", policies.CodeNoLockEntry, "the lock has no entry for it; "+policies.LockCommand(scope)+" adds one"
		return v
	}
	entry, _ := file.Lookup(ext.Name)
	relock := "; " + policies.Relock(scope, entry.Source, ext.Name)
	v.Locked = entry.DigestFor(gate.Platform)
	switch {
	case facts.PlatformMissing:
		v.State, v.Code, v.Detail = "drift", policies.CodePlatformMissing, "the lock has no digest for "+gate.Platform+"; "+policies.LockCommand(scope)+" on it adds one"
	case facts.ContentDrift:
		v.State, v.Code, v.Detail = "drift", policies.CodeContentDrift, "its files are not those that were locked"+changedFiles(p, v, t)+relock
	case facts.SourceDrift:
		v.State, v.Code, v.Detail = "drift", policies.CodeSourceDrift, "locked from "+entry.Source+", found from "+orUnknown(p.gate.Claimed(ext))+relock
	case facts.DescriptorDrift:
		v.State, v.Code, v.Detail = "drift", policies.CodeDescriptorDrift, "it contributes other commands, tools or panels"+relock
	}
	return v
}

// changedFiles names the files that differ, where the store still has what was
// locked.
func changedFiles(p *place, v verified, now *tree.Tree) string {
	dir, err := storeOf(p).Open(v.Locked)
	if err != nil {
		return ""
	}
	was, err := tree.Hash(dir, tree.Options{})
	if err != nil {
		return ""
	}
	return ": " + strings.Join(tree.Changed(was, now), ", ")
}

// missing lists entries for which there is nothing to load. One from git is fine
// in the store.
func missing(p *place, scope policies.Scope, file *lock.File, seen map[string]bool) []verified {
	if file == nil {
		return nil
	}
	var out []verified
	for _, name := range slices.Sorted(maps.Keys(file.Extensions)) {
		if seen[string(scope)+name] {
			continue
		}
		entry := file.Extensions[name]
		v := verified{Name: name, Scope: scope, Locked: entry.DigestFor(gate.Platform), State: "missing", Code: policies.CodeContentDrift}
		rel, vendored := strings.CutPrefix(entry.Source, "vendored:")
		switch {
		case scope == policies.ScopeUser:
			v.Detail = "it is not installed any more; install it again, or run zot ext lock --user, which takes it out"
		case vendored:
			v.Detail = goneWords(rel)
		default:
			v.Detail = "neither in the project nor in the store; zot ext sync fetches it from " + entry.Source
		}
		out = append(out, v)
	}
	return out
}

func (c *command) report(all []verified) error {
	var bad []string
	for _, v := range all {
		if v.State == "drift" || v.State == "missing" {
			bad = append(bad, v.Name)
		}
	}
	if c.json {
		if err := c.printJSON(all); err != nil {
			return err
		}
	} else {
		if len(all) == 0 {
			fmt.Fprintln(c.Streams.Err, "there is no extension here, and no lock pins one")
		}
		for _, v := range all {
			fmt.Fprintf(c.Streams.Out, "%s (%s): %s", v.Name, v.Scope, v.State)
			if v.Code != "" {
				fmt.Fprintf(c.Streams.Out, " %s", v.Code)
			}
			if v.Detail != "" {
				fmt.Fprintf(c.Streams.Out, ", %s", v.Detail)
			}
			fmt.Fprintln(c.Streams.Out)
			if v.Digest != "" {
				fmt.Fprintf(c.Streams.Out, "    %s\n", v.Digest)
			}
		}
	}
	if len(bad) > 0 {
		return coded(policies.ExitDigestMismatch, "not what was pinned: %s", strings.Join(bad, ", "))
	}
	return nil
}
