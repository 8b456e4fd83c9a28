package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/runtime/model"
)

// maxWords bounds a server's message as shown, in bytes.
const maxWords = 2000

// words is what a server said about a failure.
type words struct {
	text   string // a sentence for a person
	code   string // "context_length_exceeded"; the most specific word given
	kind   string // "invalid_request_error"
	param  string // "tools[2].function.parameters"
	status int    // a status given inside the body, or 0
	raw    string // the body, for hints that live beside the message
}

// readWords finds the message in a body of any shape that model servers and
// the proxies before them use.
func readWords(body []byte, contentType string) words {
	body = bytes.TrimSpace(body)
	w := words{raw: string(body)}
	var v any
	if json.Unmarshal(body, &v) == nil {
		w.collect(v)
		w.text = sentence(v, 0)
	} else if strings.Contains(contentType, "html") || bytes.HasPrefix(body, []byte("<")) {
		w.text = htmlWords(string(body))
	} else {
		w.text = string(body)
	}
	w.text = shorten(w.text)
	return w
}

// collect picks up codes at any depth that servers put them.
func (w *words) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			w.collect(e)
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "detail"} {
			w.collect(v[key])
		}
		setWord(&w.kind, v["type"])
		setWord(&w.param, v["param"])
		setWord(&w.code, v["code"])
		setWord(&w.code, v["status"]) // Google's word: RESOURCE_EXHAUSTED
		for _, key := range []string{"code", "status", "status_code"} {
			if n, ok := v[key].(float64); ok && n >= 400 && n < 600 && w.status == 0 {
				w.status = int(n)
			}
		}
	}
}

func setWord(dst *string, v any) {
	if s, ok := v.(string); ok && *dst == "" && s != "error" {
		*dst = s
	}
}

// sentence digs the human text out of decoded JSON.
func sentence(v any, depth int) string {
	if depth > 6 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		var parts []string
		for _, e := range v {
			if s := sentence(e, depth+1); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		return objectSentence(v, depth)
	}
	return ""
}

func objectSentence(v map[string]any, depth int) string {
	for _, key := range []string{"error", "message", "detail", "msg", "error_message", "errors", "title", "reason"} {
		s := sentence(v[key], depth+1)
		if s == "" {
			continue
		}
		if loc := location(v["loc"]); loc != "" {
			s = loc + ": " + s
		}
		// Routers put what the server behind them said beside their own words.
		if meta, ok := v["metadata"].(map[string]any); ok {
			if raw, ok := meta["raw"].(string); ok && raw != "" && !strings.Contains(s, raw) {
				s += ": " + readWords([]byte(raw), "").text
			}
		}
		return s
	}
	return ""
}

// location writes FastAPI's ["body", "messages", 0] as "body.messages.0".
func location(v any) string {
	list, _ := v.([]any)
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprint(e))
	}
	return strings.Join(parts, ".")
}

var (
	htmlTitle  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	htmlHead   = regexp.MustCompile(`(?is)<h1[^>]*>(.*?)</h1>`)
	htmlHidden = regexp.MustCompile(`(?is)<(script|style)[^>]*>.*?</(script|style)>`)
	htmlTag    = regexp.MustCompile(`(?s)<[^>]*>`)
	blanks     = regexp.MustCompile(`\s+`)
)

// htmlWords says what a web page is about: a proxy or login page answered.
func htmlWords(page string) string {
	for _, re := range []*regexp.Regexp{htmlTitle, htmlHead} {
		if m := re.FindStringSubmatch(page); m != nil {
			if s := htmlText(m[1]); s != "" {
				return "a web page says: " + s
			}
		}
	}
	if s := htmlText(htmlHidden.ReplaceAllString(page, " ")); s != "" {
		return "a web page says: " + s
	}
	return "a web page without text"
}

func htmlText(s string) string {
	return strings.TrimSpace(blanks.ReplaceAllString(html.UnescapeString(htmlTag.ReplaceAllString(s, " ")), " "))
}

func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if len(s) <= maxWords {
		return s
	}
	cut := maxWords
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Excerpt is the beginning of a body that was not understood, in quotes.
func Excerpt(b []byte) string {
	const most = 120
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

var (
	toolByIndex = regexp.MustCompile(`tools[.\[](\d+)`)
	toolByName  = regexp.MustCompile(`(?i)(?:function|tool)s?(?: schema)?(?: for)?(?: named)?:? ?['"\x60]([A-Za-z0-9_.-]{1,128})['"\x60]`)
)

// blameTool names the tool whose definition the server refused. Servers point
// at it by name or by its position in the request.
func (o Origin) blameTool(f *Failure, w words) {
	f.Remedy = "the request itself is at fault; try another model, or report it with the text above"
	name := ""
	if m := toolByIndex.FindStringSubmatch(w.param + " " + w.text); m != nil {
		if i, err := strconv.Atoi(m[1]); err == nil && i < len(o.Tools) {
			name = o.Tools[i]
		}
	}
	for _, m := range toolByName.FindAllStringSubmatch(w.text, -1) {
		for _, tool := range o.Tools {
			if tool == m[1] {
				name = tool
			}
		}
	}
	if name == "" {
		return
	}
	f.Kind = model.KindBadRequest
	f.Tool = name
	f.Remedy = fmt.Sprintf("the server refuses the definition of the tool %q: disable the extension that provides it, or correct its schema", name)
}
