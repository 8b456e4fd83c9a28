package schemas

import (
	"strconv"
	"strings"
)

var (
	tokenEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(token string) string { return tokenEscaper.Replace(token) }

// Pointer joins keys and indexes into a JSON pointer.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + escapeToken(token))
	}
	return b.String()
}

func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = tokenUnescaper.Replace(token)
	}
	return tokens
}

// lookup follows a JSON pointer through plain values.
func lookup(v any, pointer string) (any, bool) {
	for _, token := range splitPointer(pointer) {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Dotted is a JSON pointer as people write it: limits.memory, args[2],
// models["gpt-4.1"].cost. The root is empty.
func Dotted(pointer string) string {
	var b strings.Builder
	for _, token := range splitPointer(pointer) {
		switch {
		case isIndex(token):
			b.WriteString("[" + token + "]")
		case isPlainKey(token):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(token)
		default:
			b.WriteString("[" + strconv.Quote(token) + "]")
		}
	}
	return b.String()
}

func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 31)
	return err == nil
}

func isPlainKey(token string) bool {
	for _, r := range token {
		plain := r == '_' || r == '-' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !plain {
			return false
		}
	}
	return token != ""
}
