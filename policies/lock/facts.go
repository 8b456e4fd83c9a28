package lock

import (
	"github.com/patriceckhart/zot/policies"
)

// Found is what is on disk of an extension.
type Found struct {
	Name        string
	Source      string // in any spelling; empty: not known
	Digest      string
	Descriptors string
	Platform    string // runtime.GOOS + "/" + runtime.GOARCH
}

// Facts compares an extension to its entry, in the form that a policy is asked
// with. A nil File is no lock at all.
func (f *File) Facts(found Found) policies.LockFacts {
	if f == nil {
		return policies.LockFacts{}
	}
	facts := policies.LockFacts{Kept: true}
	e, ok := f.Lookup(found.Name)
	if !ok {
		return facts
	}
	facts.Entry, facts.Permissions = true, e.Permissions
	want := e.DigestFor(found.Platform)
	facts.PlatformMissing = want == ""
	facts.ContentDrift = want != "" && want != found.Digest
	facts.SourceDrift = !policies.SameSource(found.Source, e.Source)
	facts.DescriptorDrift = e.Descriptors != found.Descriptors
	return facts
}
