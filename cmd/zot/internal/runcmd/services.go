package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/fetch"
)

// A services serves what extensions ask of the host in request frames, each
// request judged by what the policy grants the extension that makes it.
type services struct {
	planner *planner
	fetcher *fetch.Fetcher

	mu    sync.Mutex
	noted map[refusedHost]bool
}

// A refusedHost is one that an extension may not reach.
type refusedHost struct{ extension, hostport string }

// maxRefusedHosts bounds the lines about them in the log of decisions: an
// extension that tries hosts for ever must not push out what is older.
const maxRefusedHosts = 1000

func newServices(p *planner) *services {
	s := &services{planner: p, noted: map[refusedHost]bool{}}
	s.fetcher = fetch.New(fetch.Options{Allowed: s.mayConnect, Named: s.named, Inward: s.inward})
	return s
}

// serve implements extension.Options.Request.
func (s *services) serve(ctx context.Context, name, method string, args json.RawMessage) (json.RawMessage, error) {
	if method == extproto.MethodFetch {
		return s.fetcher.Serve(ctx, name, args)
	}
	return nil, &extension.RequestError{
		Code: "unknown_method", Message: fmt.Sprintf("this host serves no %q; it serves %s", method, extproto.MethodFetch),
	}
}

// mayConnect judges a connection, and writes a refusal to the log of decisions.
func (s *services) mayConnect(name, hostport string) (ok bool, why string) {
	bound, g := s.planner.boundOf(name)
	if bound == nil || g == nil {
		return false, "nothing is known of the extension"
	}
	d := bound.Use(policies.NetConnect, hostport)
	if d.Allowed() {
		return true, ""
	}
	s.note(g, name, hostport, d)
	return false, gate.Sentence(d)
}

// inward notes a connection that the grant has only by a pattern, and that
// would lead into a network of the user's.
func (s *services) inward(name, hostport string) {
	if _, g := s.planner.boundOf(name); g != nil {
		s.note(g, name, hostport, policies.Decision{
			Verdict: policies.Deny, Code: policies.CodeOutsideGrant, By: policies.Origin{Builtin: true},
		})
	}
}

// note writes a refused host to the log of decisions, once.
func (s *services) note(g *gate.Gate, name, hostport string, d policies.Decision) {
	host := refusedHost{name, hostport}
	s.mu.Lock()
	known := s.noted[host] || len(s.noted) >= maxRefusedHosts
	if !known {
		s.noted[host] = true
	}
	s.mu.Unlock()
	if !known {
		_ = g.Record(name, policies.NetConnect, hostport, d)
	}
}

// named reports whether the grant has the very host. An extension with all the
// rights of its user could connect there by itself.
func (s *services) named(name, hostport string) bool {
	bound, _ := s.planner.boundOf(name)
	if bound == nil {
		return false
	}
	granted := bound.Granted()
	return granted.All || slices.ContainsFunc(granted.NetConnect, func(h string) bool { return strings.EqualFold(h, hostport) })
}

// boundOf returns the policy that an extension runs under, which may have been
// narrowed since it was started.
func (p *planner) boundOf(name string) (*policies.Bound, *gate.Gate) {
	p.mu.Lock()
	bound, g := p.bounds[name], p.gate
	p.mu.Unlock()
	if p.manager != nil {
		if now := p.manager().Rights(name); now != nil {
			bound = now
		}
	}
	return bound, g
}
