package providertest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"
)

// status refuses the request in the shape that the step names.
func (re *reply) status(st Step) {
	h := re.w.Header()
	if v := st.Keys["retry-after"]; v != "" {
		h.Set("Retry-After", v)
	}
	if v := st.Keys["retry-after-ms"]; v != "" {
		h.Set("Retry-After-Ms", v)
	}
	if d, err := time.ParseDuration(st.Keys["retry-at"]); err == nil {
		h.Set("Retry-After", time.Now().Add(d).UTC().Format(http.TimeFormat))
	}
	if st.N >= 300 && st.N < 400 {
		h.Set("Location", st.Text)
	}
	kind, body := refusal(st)
	h.Set("Content-Type", kind)
	re.w.WriteHeader(st.N)
	re.write(body)
}

// refusal writes a step's text as servers of several makes would.
func refusal(st Step) (contentType, body string) {
	const asJSON = "application/json"
	msg, k := st.Text, st.Keys
	switch k["shape"] {
	case "html":
		return "text/html; charset=utf-8", fmt.Sprintf("<!DOCTYPE html>\n<html><head><style>p{color:red}</style>"+
			"<title>%[1]s</title></head><body><h1>%[1]s</h1><p>nginx</p></body></html>", html.EscapeString(msg))
	case "plain":
		return "text/plain", msg
	case "empty":
		return "text/plain", ""
	case "detail":
		if strings.HasPrefix(msg, "[") {
			return asJSON, `{"detail":` + msg + `}`
		}
		return asJSON, encode(map[string]any{"detail": msg})
	case "google":
		return asJSON, encode([]any{map[string]any{"error": map[string]any{
			"code": st.N, "message": msg, "status": k["code"],
		}}})
	case "anthropic":
		return asJSON, encode(map[string]any{"type": "error", "error": map[string]any{"type": k["type"], "message": msg}})
	}
	e := map[string]any{"message": msg, "type": k["type"], "param": nil, "code": nil}
	for _, key := range []string{"param", "code"} {
		if k[key] != "" {
			e[key] = k[key]
		}
	}
	return asJSON, encode(map[string]any{"error": e})
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
