package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// maxAddresses is how many addresses of a host are tried, and dialTimeout how
// long each.
const (
	maxAddresses = 8
	dialTimeout  = 10 * time.Second
)

// follow makes the request and those that redirects ask for.
func (f *Fetcher) follow(ctx context.Context, name string, r *request) (*extproto.FetchResult, error) {
	for redirects := 0; ; redirects++ {
		addrs, err := f.judge(ctx, name, r.target)
		if err != nil {
			return nil, err
		}
		result, location, err := f.exchange(ctx, r, addrs)
		if err != nil || location == "" || f.opts.Limits.Redirects < 0 {
			return result, err
		}
		if redirects == f.opts.Limits.Redirects {
			return nil, refuse(extproto.CodeFailed, "more than %d redirects", f.opts.Limits.Redirects)
		}
		to, err := r.target.next(location)
		if err != nil {
			return nil, err
		}
		r = r.redirected(result.Status, to)
	}
}

// judge finds the addresses to which the request may go. The message of a
// refusal holds no address: what a name means inside of a network is not for
// an extension to find out.
func (f *Fetcher) judge(ctx context.Context, name string, t *target) ([]netip.AddrPort, error) {
	hostport := t.hostport()
	if ok, why := f.opts.Allowed(name, hostport); !ok {
		if why != "" {
			why = ": " + why
		}
		return nil, refuse(extproto.CodeDenied, "net.connect does not reach %s%s", hostport, why)
	}
	named := (t.addr.IsValid() || localName(t.host)) && f.opts.Named(name, hostport)
	candidates := []netip.Addr{t.addr}
	if !t.addr.IsValid() {
		var err error
		if candidates, err = f.opts.Resolver.LookupNetIP(ctx, "ip", t.host); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			return nil, lookupError(t.host, err)
		}
	}
	var good []netip.AddrPort
	for _, addr := range candidates {
		if !t.addr.IsValid() {
			addr = addr.Unmap() // resolvers give IPv4 in either form
		}
		to := netip.AddrPortFrom(addr, t.port)
		if named || public(addr) || f.opts.Named(name, to.String()) {
			good = append(good, to)
		}
	}
	if len(good) == 0 {
		if len(candidates) == 0 {
			return nil, lookupError(t.host, errors.New("it has no address"))
		}
		if f.opts.Inward != nil {
			f.opts.Inward(name, hostport)
		}
		return nil, refuse(extproto.CodeDenied, "%s is not on the public internet, and net.connect does not name it", hostport)
	}
	return good[:min(len(good), maxAddresses)], nil
}

// lookupError leaves out which server was asked.
func lookupError(host string, err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		if dns.IsTimeout {
			return refuse(extproto.CodeTimeout, "looking up %s: no answer in time", host)
		}
		err = errors.New(dns.Err)
	}
	return refuse(extproto.CodeFailed, "looking up %s: %v", host, err)
}

// exchange sends one request to one of the addresses. Of a redirect it returns
// where it leads, with no more than the status in the result.
func (f *Fetcher) exchange(ctx context.Context, r *request, addrs []netip.AddrPort) (*extproto.FetchResult, string, error) {
	transport := &http.Transport{
		Proxy:                  nil, // not even that of the environment
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return f.dial(ctx, addrs) },
		TLSClientConfig:        f.opts.TLS.Clone(),
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: f.opts.Limits.Headers,
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.target.url.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, "", err
	}
	req.Header = r.header
	res, err := transport.RoundTrip(req)
	if err != nil {
		if strings.Contains(err.Error(), "response headers exceeded") {
			err = refuse(extproto.CodeTooLarge, "the headers of the answer have more than %d bytes", f.opts.Limits.Headers)
		}
		return nil, "", err
	}
	defer res.Body.Close()
	if location := res.Header.Get("Location"); location != "" && isRedirect(res.StatusCode) && f.opts.Limits.Redirects >= 0 {
		return &extproto.FetchResult{Status: res.StatusCode}, location, nil
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return nil, "", errors.New("the server switched to another protocol, which nobody asked for")
	}
	result, err := f.read(res)
	return result, "", err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// dial connects to the first address that answers.
func (f *Fetcher) dial(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	var failure error
	for _, addr := range addrs {
		one, cancel := context.WithTimeout(ctx, dialTimeout)
		conn, err := f.opts.Dial(one, addr)
		cancel()
		if err == nil {
			return conn, nil
		}
		failure = err
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failure
}

// read takes the answer in, up to the limit.
func (f *Fetcher) read(res *http.Response) (*extproto.FetchResult, error) {
	most := f.opts.Limits.Response
	tooLarge := refuse(extproto.CodeTooLarge, "the body of the answer has more than %d bytes", most)
	if res.ContentLength > most && res.Request.Method != http.MethodHead {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case int64(len(body)) > most:
		return nil, tooLarge
	case err != nil:
		return nil, err
	}
	result := &extproto.FetchResult{Status: res.StatusCode, Headers: headersOf(res.Header)}
	setBody(result, body)
	return result, nil
}
