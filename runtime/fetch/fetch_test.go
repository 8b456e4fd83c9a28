package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/fetch"
)

// echo answers with what it got, one thing a line.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s\n", r.Method, r.Host, r.URL)
	for _, key := range []string{"Accept", "Authorization", "Cookie", "Content-Type", "User-Agent", "X-Api-Key", "Referer"} {
		if v := r.Header.Get(key); v != "" {
			fmt.Fprintf(w, "%s: %s\n", key, v)
		}
	}
	w.Write(body)
}

func TestRequestsArriveAsAsked(t *testing.T) {
	n := internet(t, echo)
	n.grant = []string{"example.com:80", "xn--bcher-kva.example.com:80"}
	n.names["xn--bcher-kva.example.com"] = []string{publicAddr}
	for _, test := range []struct {
		args extproto.FetchArgs
		want string
	}{
		{extproto.FetchArgs{URL: "http://example.com"}, "GET example.com /\nUser-Agent: zot\n"},
		{extproto.FetchArgs{URL: "http://EXAMPLE.com.:80/a%20b?q=1#part"}, "GET example.com /a%20b?q=1\nUser-Agent: zot\n"},
		{extproto.FetchArgs{URL: "http://Bücher.example.com/"}, "GET xn--bcher-kva.example.com /\nUser-Agent: zot\n"},
		{extproto.FetchArgs{URL: "http://example.com/", Method: "POST", Body: "grüße", Headers: map[string]string{
			"content-type": "text/plain", "Authorization": "Bearer x", "user-agent": "me/1"}},
			"POST example.com /\nAuthorization: Bearer x\nContent-Type: text/plain\nUser-Agent: me/1\ngrüße"},
		{extproto.FetchArgs{URL: "http://example.com/", Method: "PUT", BodyBase64: "aGk="}, "PUT example.com /\nUser-Agent: zot\nhi"},
		{extproto.FetchArgs{URL: "http://example.com/", Method: "DELETE"}, "DELETE example.com /\nUser-Agent: zot\n"},
	} {
		got, err := n.get(t, test.args)
		if err != nil || got.Status != 200 {
			t.Errorf("%+v: %v", test.args, err)
		}
		if diff := cmp.Diff(test.want, got.Body); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.args, diff)
		}
	}
}

func TestAnswers(t *testing.T) {
	binary := string([]byte{0xff, 0, 1})
	angles := strings.Repeat("<", 1<<20)
	for _, test := range []struct {
		name  string
		serve http.HandlerFunc
		want  extproto.FetchResult
	}{
		{"status and headers", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Many"] = []string{"a", "b"}
			w.Header().Set("Proxy-Authenticate", "Basic")
			w.Header().Set("Connection", "close")
			w.Header().Set("Keep-Alive", "timeout=5")
			w.WriteHeader(418)
		}, extproto.FetchResult{Status: 418, Headers: map[string]string{"X-Many": "a, b", "Content-Length": "0"}}},
		{"bytes", says(binary), extproto.FetchResult{Status: 200, BodyBase64: "/wAB",
			Headers: map[string]string{"Content-Length": "3", "Content-Type": "application/octet-stream"}}},
		{"text that would not fit", says(angles), extproto.FetchResult{Status: 200, BodyBase64: base64.StdEncoding.EncodeToString([]byte(angles)),
			Headers: map[string]string{"Content-Type": "text/plain; charset=utf-8"}}},
		{"compressed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write([]byte("small"))
			z.Close()
		}, extproto.FetchResult{Status: 200, Body: "small", Headers: map[string]string{}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := internet(t, test.serve).get(t, extproto.FetchArgs{URL: "http://example.com/"})
			if err != nil {
				t.Fatal(err)
			}
			delete(got.Headers, "Date")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestInvalidRequests(t *testing.T) {
	f := internet(t, says("hello")).fetcher(fetch.Limits{})
	for args, part := range map[string]string{
		``: "an object", `null`: "an object", `[]`: "an object", `{`: "args", `{"url":7}`: "args",
		`{}`: "https://", `{"url":"example.com"}`: "https://", `{"url":"ftp://example.com/"}`: "https://", `{"url":"http:example.com"}`: "no host",
		`{"url":"http:///x"}`: "no host", `{"url":"http://u@example.com/"}`: "user name", `{"url":"http://a b/"}`: "url",
		`{"url":"http://example.com:0/"}`: "port", `{"url":"http://example.com:65536/"}`: "out of range", `{"url":"http://example.com:x/"}`: "url",
		`{"url":"http://[fe80::1%25eth0]/"}`: "zone", `{"url":"http://[::1"}`: "url", `{"url":"http://[1:2]/"}`: "url",
		`{"url":"http://127.1/"}`: "complete IP address", `{"url":"http://2130706433/"}`: "complete", `{"url":"http://0x7f000001/"}`: "complete",
		`{"url":"http://0177.0.0.1/"}`: "complete", `{"url":"http://1.2.3.4.5/"}`: "complete", `{"url":"http://./"}`: "not a name", `{"url":"http://ex_ample.com/"}`: "not a name",
		`{"url":"http://example.com/\n"}`: "url", `{"url":"http://example.com/","method":"get"}`: "GET", `{"url":"http://example.com/","method":"CONNECT"}`: "one of",
		`{"url":"http://example.com/","method":"TRACE"}`: "one of", `{"url":"http://example.com/","body":"x"}`: "has no body",
		`{"url":"http://example.com/","method":"POST","body":"x","body_base64":"eA=="}`: "both",
		`{"url":"http://example.com/","method":"POST","body_base64":"?"}`:               "body_base64",
		`{"url":"http://example.com/","headers":{"a b":""}}`:                            "not the name",
		`{"url":"http://example.com/","headers":{"A":"x\r\nHost: y"}}`:                  "control character",
		`{"url":"http://example.com/","headers":{"A-a":"1","a-A":"2"}}`:                 "twice",
		`{"url":"http://example.com/` + strings.Repeat("a", 9000) + `"}`:                "longer than",
	} {
		_, err := f.Serve(t.Context(), "weather", json.RawMessage(args))
		wantCode(t, err, "invalid", part)
	}
	for _, name := range []string{"Connection", "host", "CONTENT-LENGTH", "Transfer-Encoding", "te", "Trailer", "Upgrade", "Keep-Alive",
		"Expect", "Via", "Forwarded", "X-Forwarded-For", "Proxy-Authorization", "Proxy-Connection"} {
		_, err := do(t, f, extproto.FetchArgs{URL: "http://example.com/", Headers: map[string]string{name: "1"}})
		wantCode(t, err, "invalid", "not for extensions")
	}
}

func TestSizesAreBounded(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 64 {
			z.Write(make([]byte, 1<<16))
		}
		z.Close()
	}
	header := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 128<<10)) }
	post := extproto.FetchArgs{Method: "POST", Body: strings.Repeat("x", 1001)}
	many := extproto.FetchArgs{Headers: map[string]string{}}
	for i := range 101 {
		many.Headers[fmt.Sprint("X", i)] = "1"
	}
	for _, test := range []struct {
		name  string
		serve http.HandlerFunc
		args  extproto.FetchArgs
		part  string
	}{
		{"endless", endless, extproto.FetchArgs{}, "more than 1000 bytes"},
		{"announced", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1001")
			endless(w, nil2())
		}, extproto.FetchArgs{}, "more than 1000"},
		{"one too many", says(strings.Repeat("x", 1001)), extproto.FetchArgs{}, "more than 1000"},
		{"unpacked", bomb, extproto.FetchArgs{}, "more than 1000"},
		{"header", header, extproto.FetchArgs{}, "headers of the answer"},
		{"request", echo, post, "has 1001 bytes"},
		{"headers", echo, many, "there are 101"},
		{"header bytes", echo, extproto.FetchArgs{Headers: map[string]string{"X": strings.Repeat("x", 65<<10)}}, "the most is 65536"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.args.URL = "http://example.com/"
			_, err := do(t, internet(t, test.serve).fetcher(fetch.Limits{Request: 1000, Response: 1000}), test.args)
			wantCode(t, err, "too_large", test.part)
		})
	}
	exact := internet(t, says(strings.Repeat("x", 1000))).fetcher(fetch.Limits{Response: 1000})
	if got, err := do(t, exact, extproto.FetchArgs{URL: "http://example.com/"}); err != nil || len(got.Body) != 1000 {
		t.Errorf("1000 bytes of 1000: %v", err)
	}
	head := internet(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "5000") }).fetcher(fetch.Limits{Response: 1000})
	if got, err := do(t, head, extproto.FetchArgs{URL: "http://example.com/", Method: "HEAD"}); err != nil || got.Headers["Content-Length"] != "5000" {
		t.Errorf("HEAD: %+v, %v", got, err)
	}
}

// nil2 is a request that has ended, so that nothing is written for it.
func nil2() *http.Request {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", "/", nil)
	return r
}

func TestTimeIsBounded(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	dripping := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	turning := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }
	for name, serve := range map[string]http.HandlerFunc{"silent": silent, "in the body": dripping, "redirects": turning} {
		t.Run(name, func(t *testing.T) {
			f := internet(t, serve).fetcher(fetch.Limits{Timeout: 100 * time.Millisecond, Redirects: 1 << 30})
			_, err := do(t, f, extproto.FetchArgs{URL: "http://example.com/"})
			wantCode(t, err, "timeout", "no complete answer within 100ms")
		})
	}
}

func TestARequestCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := internet(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	_, err := n.fetcher(fetch.Limits{}).Serve(ctx, "weather", json.RawMessage(`{"url":"http://example.com/"}`))
	wantCode(t, err, "failed", "cancelled")
}

func TestRedirectsAreBounded(t *testing.T) {
	hops := 0
	n := internet(t, func(w http.ResponseWriter, r *http.Request) { hops++; http.Redirect(w, r, "/again", http.StatusFound) })
	_, err := n.get(t, extproto.FetchArgs{URL: "http://example.com/"})
	wantCode(t, err, "failed", "more than 5 redirects")
	if hops != 6 {
		t.Errorf("%d requests were made", hops)
	}
	got, err := do(t, n.fetcher(fetch.Limits{Redirects: -1}), extproto.FetchArgs{URL: "http://example.com/"})
	if err != nil || got.Status != 302 || got.Headers["Location"] != "/again" {
		t.Errorf("without following: %+v, %v", got, err)
	}
}

// Another host gets nothing that could be a secret, and a body only where the
// status says so.
func TestWhatARedirectTakesAlong(t *testing.T) {
	secret := map[string]string{"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/plain", "Content-Type": "text/plain"}
	for _, test := range []struct {
		status       int
		method, to   string
		want, header string
	}{
		{302, "POST", "/next", "GET example.com /next", "Accept Authorization Cookie User-Agent X-Api-Key"},
		{303, "PUT", "/next", "GET example.com /next", "Accept Authorization Cookie User-Agent X-Api-Key"},
		{302, "PUT", "/next", "PUT example.com /next", "Accept Authorization Cookie Content-Type User-Agent X-Api-Key body"},
		{307, "POST", "/next", "POST example.com /next", "Accept Authorization Cookie Content-Type User-Agent X-Api-Key body"},
		{308, "POST", "http://other.net/next", "POST other.net /next", "Accept Content-Type User-Agent body"},
		{301, "POST", "http://other.net/next", "GET other.net /next", "Accept User-Agent"},
		{307, "POST", "http://example.com:81/next", "POST example.com:81 /next", "Accept Content-Type User-Agent body"},
		{303, "HEAD", "/next", "", ""},
	} {
		n := internet(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/next" {
				echo(w, r)
				return
			}
			w.Header().Set("Location", test.to)
			w.WriteHeader(test.status)
		})
		n.grant = append(n.grant, "other.net:80", "example.com:81")
		n.names["other.net"] = []string{"8.8.8.8"}
		n.serve(t, "8.8.8.8:80", echo)
		n.serve(t, publicAddr+":81", echo)
		args := extproto.FetchArgs{URL: "http://example.com/", Method: test.method, Headers: secret, Body: "body"}
		if test.method == "HEAD" {
			args.Body = ""
		}
		got, err := n.get(t, args)
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		first, rest, _ := strings.Cut(got.Body, "\n")
		var names []string
		for line := range strings.Lines(rest) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			names = append(names, name)
		}
		if first != test.want || !sameWords(strings.Join(names, " "), test.header) {
			t.Errorf("%+v: got %q with %q", test, first, names)
		}
	}
}

func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Fields(a) {
		count[w]++
	}
	for _, w := range strings.Fields(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestNothingIsGrantedByDefault(t *testing.T) {
	_, err := do(t, fetch.New(fetch.Options{}), extproto.FetchArgs{URL: "http://localhost/"})
	wantCode(t, err, "denied", "nothing is granted")
}

// Whatever fits the limits fits a frame.
func TestTheLargestAnswerFitsAFrame(t *testing.T) {
	for _, body := range []string{strings.Repeat("\x01", 2<<20), strings.Repeat("\u2028", 2<<20/3), strings.Repeat("\xff", 2<<20), strings.Repeat("é<", 2<<20/3)} {
		n := internet(t, says(body))
		raw, err := n.fetcher(fetch.Limits{Response: 1 << 40}).Serve(t.Context(), "weather", json.RawMessage(`{"url":"http://example.com/"}`))
		if err != nil {
			t.Fatal(err)
		}
		line, err := extproto.Encode(extproto.Response{ID: "1", Result: raw})
		if err != nil || len(line) > extproto.MaxFrame-(512<<10) {
			t.Errorf("%.4q…: %d bytes, %v", body, len(line), err)
		}
	}
}

func FuzzArgs(f *testing.F) {
	for _, seed := range []string{`{"url":"http://example.com/"}`, `{"url":"http://[::ffff:127.0.0.1]:80/"}`, `{"url":"http://0x7f.1/"}`,
		`{"url":"https://ex%41mple.com:443//a?b#c","method":"POST","headers":{"A":"b"},"body":"x"}`, `{"url":"http://127.0.0.1./"}`,
		`{"url":"http://１２７.0.0.1/"}`, `{"url":"http://localhost/","body_base64":"eA=="}`, `{"url":"http://a@b/"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		n := internet(t, says("hello"))
		n.grant = []string{"*:*"}
		n.names = map[string][]string{"example.com": {publicAddr, "127.0.0.1"}, "localhost": {"127.0.0.1"}}
		raw, err := n.fetcher(fetch.Limits{}).Serve(t.Context(), "weather", args)
		if (err == nil) == (raw == nil) || err == nil && !json.Valid(raw) {
			t.Errorf("%q gave %q, %v", args, raw, err)
		}
		for _, addr := range n.dialed {
			for _, near := range []string{"127.", "10.", "0.", "169.254.", "192.168.", "[::", "[f"} {
				if strings.HasPrefix(addr, near) {
					t.Errorf("%q dialled %s", args, addr)
				}
			}
		}
		if bytes.Contains(raw, []byte("secret")) {
			t.Error("it read a secret")
		}
	})
}
