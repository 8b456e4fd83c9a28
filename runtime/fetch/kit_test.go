package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/fetch"
)

// A network is a made-up internet: names with addresses, and servers behind
// them. It notes what was looked up and dialled.
type network struct {
	names   map[string][]string
	servers map[string]*httptest.Server // by address and port
	grant   []string                    // patterns of "host:port"

	mu     sync.Mutex
	looked []string
	dialed []string
}

const publicAddr = "93.184.216.34"

// internet has example.com at a public address, served by handler on port 80.
func internet(t *testing.T, handler http.HandlerFunc) *network {
	t.Helper()
	n := &network{names: map[string][]string{"example.com": {publicAddr}}, servers: map[string]*httptest.Server{}, grant: []string{"example.com:80"}}
	n.serve(t, publicAddr+":80", handler)
	return n
}

// serve puts a server at an address; port 443 speaks TLS.
func (n *network) serve(t *testing.T, addr string, handler http.HandlerFunc) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if strings.HasSuffix(addr, ":443") {
		server.StartTLS()
	} else {
		server.Start()
	}
	n.servers[addr] = server
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

func (n *network) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.looked = append(n.looked, host)
	n.mu.Unlock()
	texts, ok := n.names[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.9.8.7:53", IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, ctx.Err()
}

func (n *network) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, addr.String())
	n.mu.Unlock()
	server := n.servers[addr.String()]
	if server == nil {
		return nil, errors.New("connection refused")
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
}

func (n *network) allowed(name, hostport string) (bool, string) {
	for _, pattern := range n.grant {
		if ok, _ := path.Match(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(pattern), hostport); ok {
			return true, ""
		}
	}
	return false, "only a few hosts are granted to " + name
}

func (n *network) named(_, hostport string) bool { return slices.Contains(n.grant, hostport) }

func (n *network) fetcher(limits fetch.Limits) *fetch.Fetcher {
	roots := x509.NewCertPool()
	for _, server := range n.servers {
		if c := server.Certificate(); c != nil {
			roots.AddCert(c)
		}
	}
	return fetch.New(fetch.Options{Allowed: n.allowed, Named: n.named, Resolver: n, Dial: n.dial,
		TLS: &tls.Config{RootCAs: roots}, Limits: limits})
}

// get fetches with default limits.
func (n *network) get(t *testing.T, args extproto.FetchArgs) (extproto.FetchResult, error) {
	t.Helper()
	return do(t, n.fetcher(fetch.Limits{}), args)
}

func do(t *testing.T, f *fetch.Fetcher, args extproto.FetchArgs) (extproto.FetchResult, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := f.Serve(t.Context(), "weather", raw)
	var result extproto.FetchResult
	if err == nil {
		if err := json.Unmarshal(answer, &result); err != nil {
			t.Fatal(err)
		}
	}
	return result, err
}

func wantCode(t *testing.T, err error, code, part string) {
	t.Helper()
	var refused *extension.RequestError
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Message, part) {
		t.Errorf("error = %v, want %s with %q", err, code, part)
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }
}
