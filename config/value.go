package config

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

// Size is a number of bytes.
type Size int64

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		name string
		n    Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s >= u.n && s%u.n == 0 {
			return strconv.FormatInt(int64(s/u.n), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Bounds on strings and lists.
const (
	maxText  = 8 << 10
	maxItems = 1000
)

// A badValue says why a value is not one of its key, and what to write.
type badValue struct{ msg, remedy string }

func (e *badValue) Error() string { return e.msg + "; " + e.remedy }

func bad(remedy, format string, args ...any) *badValue {
	return &badValue{msg: fmt.Sprintf(format, args...), remedy: remedy}
}

// A base is what relative paths of a layer start at, and where they must stay.
type base struct {
	dir      string // folder of relative paths
	userHome string
	confined bool // paths must stay inside dir
}

// fromNode turns a value in a file into the value of a setting: bool, int64,
// float64, string, time.Duration or []string.
func (k *Key) fromNode(n *document.Node, b base) (any, *badValue) {
	switch {
	case k.Type == Bool && n.Kind == document.Bool:
		return n.Bool, nil
	case k.Type.isList() && n.Kind == document.List:
		items := make([]string, len(n.Items))
		for i, item := range n.Items {
			if item.Kind != document.String {
				return nil, bad("write strings in quotes", "item %d is %s, and must be a string", i+1, item.Kind)
			}
			items[i] = item.Text
		}
		return k.checkList(items, b)
	case n.Kind == document.Number:
		return k.fromNumber(n)
	case n.Kind == document.String && k.takesString():
		return k.fromText(n.Text, b)
	}
	return nil, k.wrongType(n.Kind.String())
}

// takesString tells whether a string in a file can be a value of the key.
func (k *Key) takesString() bool {
	return k.Type != Bool && k.Type != Int && k.Type != Number && !k.Type.isList()
}

func (k *Key) wrongType(got string) *badValue {
	remedy := "for example " + k.example()
	return bad(remedy, "must be %s, and is %s", k.Type, got)
}

func (k *Key) example() string {
	if len(k.Enum) > 0 {
		return strconv.Quote(k.Enum[0])
	}
	if k.Default != nil {
		return k.literal(k.Default)
	}
	return [...]string{"true", "10", "0.5", `"text"`, `"30s"`, `"4MiB"`, `"https://example.org/v1"`, `"~/file"`, `["a", "b"]`, `["~/folder"]`}[k.Type]
}

func (k *Key) fromNumber(n *document.Node) (any, *badValue) {
	switch k.Type {
	case Int, Bytes:
		i, ok := n.Int()
		if x, err := strconv.ParseFloat(n.Text, 64); !ok && (err != nil || math.Abs(x) > 1<<53) {
			return nil, bad(k.bounds(), "%s is out of bounds", n.Text)
		}
		if !ok {
			return nil, bad("drop the fraction", "must be a whole number, and is %s", n.Text)
		}
		return k.checkInt(i)
	case Number:
		x, ok := n.Float()
		if !ok {
			return nil, k.wrongType(n.Text)
		}
		return k.checkFloat(x)
	case Duration:
		x, ok := n.Float()
		if !ok {
			return nil, k.wrongType(n.Text)
		}
		return k.checkSeconds(x, n.Text)
	}
	return nil, k.wrongType(document.Number.String())
}

// fromString turns what a variable, a flag or the command line says into a
// value. Lists are separated by commas.
func (k *Key) fromString(text string, b base) (any, *badValue) {
	switch k.Type {
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			return true, nil
		case "false", "0", "no", "off":
			return false, nil
		}
		return nil, bad("write true or false", "%q is neither true nor false", text)
	case Int:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, bad("for example "+k.example(), "%q is not a whole number", text)
		}
		return k.checkInt(i)
	case Number:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, bad("for example "+k.example(), "%q is not a number", text)
		}
		return k.checkFloat(x)
	case List, PathList:
		return k.checkList(splitList(text), b)
	}
	return k.fromText(text, b)
}

// splitList cuts at commas and drops white space around the items. Nothing is
// the empty list.
func splitList(text string) []string {
	if strings.TrimSpace(text) == "" {
		return []string{}
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

func (k *Key) fromText(text string, b base) (any, *badValue) {
	if len(text) > maxText {
		return nil, bad("shorten it", "is %d bytes long, and may be %d", len(text), maxText)
	}
	switch k.Type {
	case Duration:
		return k.parseDuration(text)
	case Bytes:
		return k.parseSize(text)
	case URL:
		return text, checkURL(text)
	case Path:
		return b.resolve(text)
	default:
		return text, k.checkEnum(text)
	}
}

func (k *Key) checkEnum(text string) *badValue {
	if len(k.Enum) == 0 || slices.Contains(k.Enum, text) {
		return nil
	}
	return bad("write one of "+strings.Join(k.Enum, ", "), "%q is not among its values", text)
}

func (k *Key) checkInt(i int64) (any, *badValue) {
	if i < k.Min || i > k.Max {
		return nil, bad(k.bounds(), "%s is out of bounds", k.literal(i))
	}
	return i, nil
}

func (k *Key) checkFloat(x float64) (any, *badValue) {
	if x < float64(k.Min) || x > float64(k.Max) {
		return nil, bad(k.bounds(), "%v is out of bounds", x)
	}
	return x, nil
}

func (k *Key) checkSeconds(x float64, text string) (any, *badValue) {
	if math.Abs(x) > float64(math.MaxInt64)/float64(time.Second) {
		return nil, bad(k.bounds(), "%s seconds is out of bounds", text)
	}
	return k.checkDuration(time.Duration(math.Round(x * float64(time.Second))))
}

func (k *Key) checkDuration(d time.Duration) (any, *badValue) {
	if int64(d) < k.Min || int64(d) > k.Max {
		return nil, bad(k.bounds(), "%s is out of bounds", d)
	}
	return d, nil
}

func (k *Key) bounds() string {
	return fmt.Sprintf("write from %s to %s", bare(k.boundText(k.Min)), bare(k.boundText(k.Max)))
}

func (k *Key) boundText(n int64) string {
	if k.Type == Duration {
		return k.literal(time.Duration(n))
	}
	return k.literal(n)
}

func bare(s string) string { return strings.Trim(s, `"`) }

// parseDuration reads "5s", "1m30s", and a bare number as seconds.
func (k *Key) parseDuration(text string) (any, *badValue) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) {
		return k.checkSeconds(x, text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, bad(`write seconds, or a unit: "250ms", "5s", "2m"`, "%q is not a duration", text)
	}
	return k.checkDuration(d)
}

var sizeUnits = []struct {
	suffix string
	n      int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// parseSize reads "4MiB", "64 KiB", and a bare number as bytes.
func (k *Key) parseSize(text string) (any, *badValue) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n > math.MaxInt64/u.n || n < 0 {
			break
		}
		return k.checkInt(n * u.n)
	}
	return nil, bad(`write bytes, or a unit: "64KiB", "4MiB"`, "%q is not a size", text)
}

func checkURL(text string) *badValue {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return nil
	}
	return bad(`for example "https://example.org/v1"`, "%q is not an address", text)
}

func (k *Key) checkList(items []string, b base) (any, *badValue) {
	if len(items) > maxItems {
		return nil, bad("shorten it", "holds %d items, and may hold %d", len(items), maxItems)
	}
	out := make([]string, len(items))
	for i, item := range items {
		if item == "" || len(item) > maxText {
			return nil, bad("drop it, or write a name", "item %d is empty or too long", i+1)
		}
		out[i] = item
		if k.Type == PathList {
			path, err := b.resolve(item)
			if err != nil {
				return nil, err
			}
			out[i] = path.(string)
		}
	}
	return out, nil
}

// resolve makes a path absolute.
func (b base) resolve(text string) (any, *badValue) {
	if text == "" || strings.ContainsRune(text, 0) {
		return nil, bad("write a path", "%q is not a path", text)
	}
	path := home.Expand(text, b.userHome)
	tilde := home.Expand(text, string(filepath.Separator)) != text // whoever's home folder it is
	if b.confined && (tilde || !filepath.IsLocal(filepath.FromSlash(text))) {
		return nil, bad("write a path below the project's folder", "%q leaves the project", text)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	if b.confined && b.dir != "" && !home.Inside(path, b.dir) {
		return nil, bad("put a folder in its place", "%q is a link out of the project", text)
	}
	return filepath.Clean(path), nil
}

// literal writes a value as JSON would hold it in a file, one line.
func (k *Key) literal(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return strconv.Quote(v.String())
	case int64:
		if k.Type == Bytes {
			if s := Size(v).String(); strings.HasSuffix(s, "B") {
				return strconv.Quote(s)
			}
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quoteJSON(v)
	case []string:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = quoteJSON(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "null"
}
