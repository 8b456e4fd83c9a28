package fetch

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// A request is what an extension asked for, checked.
type request struct {
	target *target
	method string
	header http.Header
	body   []byte
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Headers that are about the connection, which is zot's, or that speak for a
// proxy. Those in Proxy-* and X-Forwarded-* are refused as well.
var ownHeaders = []string{
	"Connection", "Content-Length", "Expect", "Forwarded", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via",
}

// Headers that go along to another host. Any other could be a credential.
var harmlessHeaders = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// maxHeaderCount and maxHeaderBytes bound the headers of a request.
const (
	maxHeaderCount = 100
	maxHeaderBytes = 64 << 10
)

func (f *Fetcher) parse(raw json.RawMessage) (*request, error) {
	var args extproto.FetchArgs
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, refuse(extproto.CodeInvalid, `args must be an object, like {"url":"https://example.com/"}`)
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, refuse(extproto.CodeInvalid, "args: %v", err)
	}
	r := &request{method: args.Method}
	if r.method == "" {
		r.method = http.MethodGet
	}
	if !slices.Contains(methods, r.method) {
		return nil, refuse(extproto.CodeInvalid, "method %q: it is one of %s", clip(r.method), strings.Join(methods, ", "))
	}
	var err error
	if r.target, err = parseTarget(args.URL); err != nil {
		return nil, err
	}
	if r.header, err = parseHeaders(args.Headers); err != nil {
		return nil, err
	}
	r.body, err = f.parseBody(args, r.method)
	return r, err
}

func parseHeaders(from map[string]string) (http.Header, error) {
	if len(from) > maxHeaderCount {
		return nil, refuse(extproto.CodeTooLarge, "headers: there are %d, and the most is %d", len(from), maxHeaderCount)
	}
	header := http.Header{}
	size := 0
	for name, value := range from {
		key := textproto.CanonicalMIMEHeaderKey(name)
		size += len(name) + len(value)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, refuse(extproto.CodeInvalid, "headers: %q is not the name of a header", clip(name))
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, refuse(extproto.CodeInvalid, "headers: the value of %s holds a control character", name)
		case slices.Contains(ownHeaders, key), strings.HasPrefix(key, "Proxy-"), strings.HasPrefix(key, "X-Forwarded-"):
			return nil, refuse(extproto.CodeInvalid, "headers: %s is not for extensions to set", name)
		case header[key] != nil:
			return nil, refuse(extproto.CodeInvalid, "headers: %s is there twice", key)
		}
		header[key] = []string{value}
	}
	if size > maxHeaderBytes {
		return nil, refuse(extproto.CodeTooLarge, "headers: they have %d bytes, and the most is %d", size, maxHeaderBytes)
	}
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{"zot"}
	}
	return header, nil
}

func (f *Fetcher) parseBody(args extproto.FetchArgs, method string) ([]byte, error) {
	body := []byte(args.Body)
	if args.BodyBase64 != "" {
		if args.Body != "" {
			return nil, refuse(extproto.CodeInvalid, "body and body_base64 are both there; send one of them")
		}
		var err error
		if body, err = base64.StdEncoding.DecodeString(args.BodyBase64); err != nil {
			return nil, refuse(extproto.CodeInvalid, "body_base64: %v", err)
		}
	}
	switch {
	case len(body) == 0:
		return nil, nil
	case method == http.MethodGet || method == http.MethodHead:
		return nil, refuse(extproto.CodeInvalid, "a %s has no body; use POST or PUT", method)
	case int64(len(body)) > f.opts.Limits.Request:
		return nil, refuse(extproto.CodeTooLarge, "the body has %d bytes, and the most that may be sent is %d", len(body), f.opts.Limits.Request)
	}
	return body, nil
}

// redirected is the request that a redirect asks for. Where it leads to
// another origin, it takes nothing along that could be a secret.
func (r *request) redirected(status int, to *target) *request {
	next := &request{target: to, method: r.method, header: r.header.Clone(), body: r.body}
	seeOther := status == http.StatusSeeOther && r.method != http.MethodHead
	turned := (status == http.StatusMovedPermanently || status == http.StatusFound) && r.method == http.MethodPost
	if seeOther || turned {
		next.method, next.body = http.MethodGet, nil
		next.header.Del("Content-Type")
	}
	if to.origin() != r.target.origin() {
		for key := range next.header {
			if !slices.Contains(harmlessHeaders, key) {
				delete(next.header, key)
			}
		}
	}
	return next
}
