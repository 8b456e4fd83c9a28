// Package fetch serves http.fetch: one HTTP request that zot makes for an
// extension, to a host that the extension was granted.
//
//	f := fetch.New(fetch.Options{Allowed: …, Named: …})
//	result, err := f.Serve(ctx, "weather", args) // extproto.FetchArgs to extproto.FetchResult
//
// What a request has to pass, in this order, for its address and again for
// that of every redirect:
//
//  1. The address is plain http or https, without a user name, and its host is
//     a name or a well-formed IP address (target.go).
//  2. Options.Allowed has a yes for its host and port. A name that is not
//     allowed is not even looked up, since a look-up alone carries the name to
//     a stranger's name server.
//  3. zot looks the name up itself. Addresses that are not on the public
//     internet (address.go) are passed over, unless Options.Named says that
//     the grant has this very address, or the name where it is one that only
//     the own network gives out: localhost, one without a dot, or below
//     .localhost, .local, .internal or .home.arpa. Any other name is its
//     owner's to point at this machine, and so is no leave to follow it there.
//  4. The connection goes to an address that has passed, with no second
//     look-up in between that could answer differently, and is used for this
//     one request only.
//
// Proxies of the environment (HTTP_PROXY and the like) are never used: a proxy
// would look names up by itself, and reach what zot refuses to. Where a machine
// is connected through a proxy alone, http.fetch fails.
//
// What cannot be told from an address is not covered: a machine of one's own
// network that has a public address counts as public.
package fetch

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/extension"
)

// Options are the settings of a [Fetcher].
type Options struct {
	// Allowed says whether the extension may connect to "host:port", and if
	// not, why. The host is in lower case and ASCII, an IPv6 address is in
	// brackets, and the port is always there. Nil allows nothing.
	Allowed func(extension, hostport string) (ok bool, why string)

	// Named says whether what the extension was granted has this very host or
	// address, written out and not by a pattern. Without it nothing but the
	// public internet is ever reached. Nil is a no to all.
	Named func(extension, hostport string) bool

	// Inward is told of a request to a "host:port" that Allowed has let through
	// and that is refused, since it leads to no address of the public internet
	// and Named has said no. Nil is told nothing.
	Inward func(extension, hostport string)

	// Resolver looks names up; nil is [net.DefaultResolver].
	Resolver Resolver

	// Dial connects to an address that was judged; nil is a [net.Dialer].
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

	// TLS is the configuration for https; nil is Go's default.
	TLS *tls.Config

	Limits Limits
}

// A Resolver finds the addresses of a host. [net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bound one request. A zero field takes the default in its comment.
type Limits struct {
	// Request is how large a body may be sent: 1 MiB.
	Request int64
	// Response is how large a body may come back, after decompression: 2 MiB,
	// which is also the most, since the answer has to fit into one frame.
	Response int64
	// Headers is how large the headers of an answer may be: 64 KiB, which is
	// also the most.
	Headers int64
	// Redirects is how many are followed: 5. A negative number follows none,
	// and gives the extension the redirect itself.
	Redirects int
	// Timeout is for the whole, redirects and body included: 30 s.
	Timeout time.Duration
}

// The most that fits into a frame, even if all of it has to be escaped.
const (
	maxResponse = 2 << 20
	maxHeaders  = 64 << 10
)

func (l Limits) withDefaults() Limits {
	if l.Request <= 0 {
		l.Request = 1 << 20
	}
	if l.Response <= 0 || l.Response > maxResponse {
		l.Response = maxResponse
	}
	if l.Headers <= 0 || l.Headers > maxHeaders {
		l.Headers = maxHeaders
	}
	if l.Redirects == 0 {
		l.Redirects = 5
	}
	if l.Timeout <= 0 {
		l.Timeout = 30 * time.Second
	}
	return l
}

// A Fetcher makes requests. It may be used by many goroutines at once, and
// keeps nothing from one request to the next: no connection, no cookie.
type Fetcher struct{ opts Options }

// New makes a Fetcher.
func New(o Options) *Fetcher {
	o.Limits = o.Limits.withDefaults()
	if o.Allowed == nil {
		o.Allowed = func(string, string) (bool, string) { return false, "nothing is granted" }
	}
	if o.Named == nil {
		o.Named = func(string, string) bool { return false }
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addr.String())
		}
	}
	return &Fetcher{opts: o}
}

// Serve makes the request that args, the JSON of [extproto.FetchArgs],
// describes, and returns the JSON of a [extproto.FetchResult]. Whatever a
// server answers is a result, an error status too.
//
// An error is an *[extension.RequestError]: "invalid" for arguments that are no
// request, "denied" for what was not granted, "timeout" and "too_large" for the
// limits, "failed" for everything that the network does.
func (f *Fetcher) Serve(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	r, err := f.parse(args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.opts.Limits.Timeout)
	defer cancel()
	result, err := f.follow(ctx, name, r)
	if err != nil {
		return nil, f.refusal(ctx, err)
	}
	return encode(result)
}

// refusal gives any error one of the protocol's codes.
func (f *Fetcher) refusal(ctx context.Context, err error) error {
	var coded *extension.RequestError
	var network net.Error
	switch {
	case errors.As(err, &coded) && (ctx.Err() == nil || coded.Code != extproto.CodeFailed && coded.Code != extproto.CodeTimeout):
		return coded // else it failed because the time was over
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return refuse(extproto.CodeTimeout, "no complete answer within %s", f.opts.Limits.Timeout)
	case ctx.Err() != nil:
		return refuse(extproto.CodeFailed, "the request was cancelled")
	case errors.As(err, &network) && network.Timeout():
		return refuse(extproto.CodeTimeout, "%v", err)
	}
	return refuse(extproto.CodeFailed, "%v", err)
}

func refuse(code, format string, args ...any) error {
	return &extension.RequestError{Code: code, Message: fmt.Sprintf(format, args...)}
}
