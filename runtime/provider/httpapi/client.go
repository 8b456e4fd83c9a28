// Package httpapi holds what every client of a model server over HTTP shares:
// the HTTP client and its trust, the reading of refusals in the many shapes
// that servers give them, and the one rule of when to try again.
//
// A client makes one attempt and reports its failure as a [*Failure], which
// says whether trying again can help; [Retry.Do] does the trying and hands the
// caller a *model.Error.
package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// DefaultIdle is how long a server may be silent. It is long: a local server
// that loads a model, or reads a long prompt, says nothing meanwhile.
const DefaultIdle = 10 * time.Minute

// ErrIdle is the cause of a call that ended because the server was silent for
// too long.
var ErrIdle = errors.New("the server was silent for too long")

// ClientOptions are the settings of an HTTP client. The zero value trusts the
// system's certificates and takes the proxy from the environment (HTTP_PROXY,
// HTTPS_PROXY, NO_PROXY).
type ClientOptions struct {
	Proxy    string        // URL of a proxy for everything but loopback; overrides the environment
	CAFile   string        // PEM file of certificates to trust besides the system's
	Insecure bool          // accept any certificate
	Idle     time.Duration // silence after which a call fails; 0 means DefaultIdle, below 0 never
	Connect  time.Duration // how long a connection may take to be made; 0 means 30 s
	// Headers are sent along with each request; what a client itself sends
	// under such a name stays.
	Headers map[string]string
}

// NewClient returns a client with the given settings. It follows no redirects:
// the request carries a key in headers that another host must not see.
func NewClient(o ClientOptions) (*http.Client, error) {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.MaxIdleConnsPerHost = 8
	if o.Connect > 0 {
		tr.DialContext = (&net.Dialer{Timeout: o.Connect, KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("proxy %q is not a URL like http://host:port", redactURL(o.Proxy))
		}
		tr.Proxy = func(req *http.Request) (*url.URL, error) {
			if isLoopback(req.URL.Hostname()) {
				return nil, nil
			}
			return u, nil
		}
	}
	if o.Insecure || o.CAFile != "" {
		tr.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.Insecure}
	}
	if o.CAFile != "" {
		pool, err := pool(o.CAFile)
		if err != nil {
			return nil, err
		}
		tr.TLSClientConfig.RootCAs = pool
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	return &http.Client{
		Transport:     &headerTransport{&idleTransport{tr, o.Idle}, o.Headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func pool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %q holds no PEM certificate", file)
	}
	return pool, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// headerTransport adds headers to requests.
type headerTransport struct {
	base    http.RoundTripper
	headers map[string]string
}

func (t *headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(t.headers) == 0 {
		return t.base.RoundTrip(req)
	}
	req = req.Clone(req.Context()) // it is the caller's
	for name, value := range t.headers {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	return t.base.RoundTrip(req)
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] through.
func (t *headerTransport) CloseIdleConnections() { closeIdle(t.base) }

// idleTransport ends a call when no byte arrived for the given time, counting
// from the sending of the request.
type idleTransport struct {
	base http.RoundTripper
	idle time.Duration
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] through.
func (t *idleTransport) CloseIdleConnections() { closeIdle(t.base) }

func closeIdle(t http.RoundTripper) {
	if c, ok := t.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *idleTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.idle < 0 {
		return t.base.RoundTrip(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(ErrIdle) })
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if context.Cause(ctx) == ErrIdle {
			err = ErrIdle
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &idleBody{resp.Body, ctx, cancel, timer, t.idle}
	return resp, nil
}

type idleBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	if err != nil && err != io.EOF && context.Cause(b.ctx) == ErrIdle {
		err = ErrIdle
	}
	return n, err
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
