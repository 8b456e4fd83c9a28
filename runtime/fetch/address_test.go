package fetch_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// notPublic has an address or more of every range that is not the internet.
var notPublic = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.9",
	"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
	"198.51.100.7", "203.0.113.7", "224.0.0.251", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"::", "::1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::5db8:d822", "64:ff9b:1::a00:1", "100::1",
	"2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "4000::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
}

func TestNamesOfTheOwnNetworkAreRefused(t *testing.T) {
	for _, addr := range append([]string{"::ffff:127.0.0.1", "::ffff:10.0.0.1"}, notPublic...) {
		n := internet(t, says("secret"))
		n.names["example.com"] = []string{addr}
		_, err := n.get(t, extproto.FetchArgs{URL: "http://x.example.com/"})
		wantCode(t, err, "denied", "only a few hosts")
		n.grant = []string{"*.example.com:80", "*:80"}
		n.names["x.example.com"] = []string{addr}
		for _, url := range []string{"http://x.example.com/", "http://example.com/"} {
			n.grant = append(n.grant, "example.com:80") // a name of the internet, written out
			_, err = n.get(t, extproto.FetchArgs{URL: url})
			wantCode(t, err, "denied", "not on the public internet")
		}
		if len(n.dialed) > 0 {
			t.Errorf("%s: dialled %q", addr, n.dialed)
		}
		if err != nil && strings.Contains(err.Error(), addr+" ") {
			t.Errorf("the refusal tells the address: %v", err)
		}
	}
}

func TestAddressesOfTheOwnNetworkAreRefused(t *testing.T) {
	for _, addr := range append([]string{"::ffff:127.0.0.1", "::ffff:93.184.216.34"}, notPublic...) {
		n := internet(t, says("secret"))
		n.grant = []string{"*:80"}
		host := addr
		if strings.Contains(addr, ":") {
			host = "[" + addr + "]"
		}
		_, err := n.get(t, extproto.FetchArgs{URL: "http://" + host + "/"})
		wantCode(t, err, "denied", "not on the public internet")
		if len(n.dialed) > 0 {
			t.Errorf("%s: dialled %q", addr, n.dialed)
		}
	}
}

func TestWhatIsNamedIsReached(t *testing.T) {
	for _, test := range []struct{ grant, url, addr string }{
		{"localhost:8080", "http://localhost:8080/", "127.0.0.1:8080"},
		{"localhost:8080", "http://LOCALHOST.:8080/", "127.0.0.1:8080"},
		{"db:80", "http://db/", "10.1.1.1:80"},
		{"wiki.internal:80", "http://wiki.internal/", "10.1.1.1:80"},
		{"127.0.0.1:80", "http://127.0.0.1/", "127.0.0.1:80"},
		{"[::1]:80", "http://[0:0::1]/", "[::1]:80"},
		{"[::ffff:127.0.0.1]:80", "http://[::ffff:7f00:1]/", "[::ffff:127.0.0.1]:80"},
		{"192.168.1.5:80", "http://printer.example.com/", "192.168.1.5:80"},
	} {
		n := internet(t, says("public"))
		n.grant = []string{test.grant, "*.example.com:80"}
		n.names["localhost"] = []string{"::ffff:127.0.0.1"}
		n.names["db"], n.names["wiki.internal"] = []string{"10.1.1.1"}, []string{"10.1.1.1"}
		n.names["printer.example.com"] = []string{"192.168.1.5"}
		n.serve(t, test.addr, says("near"))
		got, err := n.get(t, extproto.FetchArgs{URL: test.url})
		if err != nil || got.Body != "near" {
			t.Errorf("%s with %s: %+v, %v", test.url, test.grant, got, err)
		}
	}
}

// A name that is allowed is no way to another port, and its neighbour's
// address is no way to this machine.
func TestAGrantIsForItsPort(t *testing.T) {
	n := internet(t, says("hello"))
	for _, url := range []string{"http://example.com:8080/", "https://example.com/", "http://example.com.evil.net/", "http://evil.net/?example.com:80"} {
		_, err := n.get(t, extproto.FetchArgs{URL: url})
		wantCode(t, err, "denied", "only a few hosts are granted to weather")
	}
	if len(n.looked) > 0 {
		t.Errorf("looked up %q, which was not granted", n.looked)
	}
}

// The answer of one look-up is judged and dialled; a second one could differ.
func TestTheJudgedAddressIsDialled(t *testing.T) {
	n := internet(t, says("hello"))
	n.names["example.com"] = []string{"127.0.0.1", "10.0.0.1", publicAddr}
	n.serve(t, "127.0.0.1:80", says("secret"))
	got, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
	if err != nil || got.Body != "hello" {
		t.Errorf("%+v, %v", got, err)
	}
	if len(n.looked) != 1 || strings.Join(n.dialed, " ") != publicAddr+":80" {
		t.Errorf("looked up %q, dialled %q", n.looked, n.dialed)
	}
}

func TestTheNextAddressIsTried(t *testing.T) {
	n := internet(t, says("hello"))
	n.names["example.com"] = []string{"2606:4700::1111", publicAddr}
	if got, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"}); err != nil || got.Body != "hello" {
		t.Errorf("%+v, %v", got, err)
	}
	n.names["example.com"] = []string{"8.8.8.8"}
	_, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
	wantCode(t, err, "failed", "connection refused")
	n.names["example.com"] = nil
	_, err = n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
	wantCode(t, err, "failed", "no address")
	delete(n.names, "example.com")
	_, err = n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
	wantCode(t, err, "failed", "looking up example.com: no such host")
	if strings.Contains(err.Error(), "10.9.8.7") {
		t.Errorf("the error tells the name server: %v", err)
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:9")
	}
	n := internet(t, says("hello"))
	if got, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"}); err != nil || got.Body != "hello" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	n := internet(t, says("plain"))
	n.grant = []string{"example.com:443", "other.net:443"}
	n.names["other.net"] = []string{"8.8.4.4"}
	n.serve(t, publicAddr+":443", says("encrypted")) // its certificate is for example.com
	n.servers["8.8.4.4:443"] = n.servers[publicAddr+":443"]
	if got, err := n.get(t, extproto.FetchArgs{URL: "https://example.com/"}); err != nil || got.Body != "encrypted" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := n.get(t, extproto.FetchArgs{URL: "https://other.net/"})
	wantCode(t, err, "failed", "certificate")
}

func TestRedirectsAreJudgedAgain(t *testing.T) {
	n := internet(t, nil)
	n.names["inside.example.com"] = []string{"10.0.0.1"}
	n.grant = append(n.grant, "inside.*.com:80")
	n.serve(t, "10.0.0.1:80", says("secret"))
	for _, test := range []struct{ to, code, part string }{
		{"http://elsewhere.net/", "denied", "elsewhere.net:80"},
		{"http://example.com:22/", "denied", "example.com:22"},
		{"http://inside.example.com/", "denied", "not on the public internet"},
		{"http://127.0.0.1/", "denied", "127.0.0.1:80"},
		{"//[::1]/", "denied", "[::1]:80"},
		{"http://0x7f.1/", "denied", "not followed"},
		{"http://user:pass@example.com/", "denied", "not followed"},
		{"file:///etc/passwd", "denied", "not followed"},
		{"gopher://example.com/", "denied", "not followed"},
		{"http://exa mple.com/", "failed", "no address"},
		{"/" + strings.Repeat("a", 9000), "failed", "redirects to an address of"},
	} {
		n.serve(t, publicAddr+":80", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", test.to)
			w.WriteHeader(302)
		})
		got, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
		wantCode(t, err, test.code, test.part)
		if got.Body != "" || got.Status != 0 {
			t.Errorf("%s: got %+v", test.to, got)
		}
	}
	for _, addr := range n.dialed {
		if addr != publicAddr+":80" {
			t.Errorf("dialled %s", addr)
		}
	}
}
