package fetch

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// maxText bounds a body that goes as text, with its escapes. Longer ones go as
// base64, which adds no more than a third.
const maxText = 3 << 20

// headersOf joins the values of each header. Those about the connection are
// left out.
func headersOf(from http.Header) map[string]string {
	headers := map[string]string{}
	for key, values := range from {
		if key != "Content-Length" && slices.Contains(ownHeaders, key) || strings.HasPrefix(key, "Proxy-") {
			continue
		}
		headers[key] = strings.Join(values, ", ")
	}
	return headers
}

// setBody puts the body where it fits: text as text, the rest as base64.
func setBody(r *extproto.FetchResult, body []byte) {
	if utf8.Valid(body) && escapedLen(body) <= maxText {
		r.Body = string(body)
		return
	}
	r.BodyBase64 = base64.StdEncoding.EncodeToString(body)
}

// escapedLen is at least as long as the JSON of a text.
func escapedLen(text []byte) int {
	n := len(text)
	for i, b := range text {
		switch {
		case b < ' ' || b == '<' || b == '>' || b == '&' || b == 0x7f:
			n += len(`\u0000`) - 1
		case b == '"' || b == '\\':
			n++
		case b == 0xe2 && i+2 < len(text) && text[i+1] == 0x80: // U+2028 and U+2029 are escaped
			n += len(`\u2028`) - 3
		}
	}
	return n
}

func encode(r *extproto.FetchResult) (json.RawMessage, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, refuse(extproto.CodeFailed, "encoding the answer: %v", err)
	}
	return raw, nil
}
