package document

import (
	"encoding/json"
	"math"
	"strconv"
)

// Any returns the value in the form that encoding/json would give it, except
// that whole numbers are int64. Of members with one name the last stays.
func (n *Node) Any() any {
	switch n.Kind {
	case Bool:
		return n.Bool
	case Number:
		if i, ok := n.Int(); ok {
			return i
		}
		x, _ := strconv.ParseFloat(n.Text, 64)
		return x
	case String:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Any()
		}
		return out
	case Object:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			out[m.Name] = m.Value.Any()
		}
		return out
	default:
		return nil
	}
}

// Int returns a Number that is whole, in whatever way it is written: 5, 5.0,
// 5e0.
func (n *Node) Int() (int64, bool) {
	if n.Kind != Number {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return i, true
	}
	x, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, false
	}
	return int64(x), true
}

// Float returns the value of a finite Number.
func (n *Node) Float() (float64, bool) {
	if n.Kind != Number {
		return 0, false
	}
	x, err := strconv.ParseFloat(n.Text, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// JSON returns the value as compact JSON, members in the order of the file.
func (n *Node) JSON() []byte { return n.appendJSON(nil) }

func (n *Node) appendJSON(b []byte) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(b, n.Bool)
	case Number:
		if json.Valid([]byte(n.Text)) {
			return append(b, n.Text...)
		}
		return append(b, "null"...) // YAML's .inf and .nan
	case String:
		return appendQuoted(b, n.Text)
	case List:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, m.Name), ':')
			b = m.Value.appendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

func appendQuoted(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // a string cannot fail
	return append(b, q...)
}
