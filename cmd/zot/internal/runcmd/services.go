package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
}

func newServices(p *planner) *services {
	s := &services{planner: p}
	s.fetcher = fetch.New(fetch.Options{Allowed: s.mayConnect, Named: s.named})
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
	_ = g.Record(name, policies.NetConnect, hostport, d)
	return false, gate.Sentence(d)
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
