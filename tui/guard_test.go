package tui

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// decode is what a reader of the stream sees: keys, and pastes by their text.
func decode(s *pasteStore, stream string) string {
	var b strings.Builder
	for {
		i := strings.Index(stream, "\x1b[200~")
		if i < 0 {
			b.WriteString(stream)
			return b.String()
		}
		b.WriteString(stream[:i])
		stream = stream[i+6:]
		j := strings.Index(stream, "\x1b[201~")
		b.WriteString("<" + s.take(stream[:j]) + ">")
		stream = stream[j+6:]
	}
}

func guarded(pieces ...string) string {
	var store pasteStore
	g := guard{store: &store}
	var out strings.Builder
	for _, p := range pieces {
		out.Write(g.feed([]byte(p)))
	}
	for g.wait() > 0 {
		out.Write(g.expire())
	}
	return decode(&store, out.String())
}

func TestGuardTakesPastesOut(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"keys pass", []string{"abc\x1b[A\r"}, "abc\x1b[A\r"},
		{"paste", []string{"a\x1b[200~x\r\ny\x1b[201~b"}, "a<x\r\ny>b"},
		{"paste in pieces", []string{"a\x1b[20", "0~x", "y\x1b[2", "01~", "b"}, "a<xy>b"},
		{"start cut after ESC", []string{"\x1b", "[200~xy\x1b[201~b"}, "<xy>b"},
		{"lone ESC passes at once", []string{"\x1b"}, "\x1b"},
		{"two pastes", []string{"\x1b[200~x\x1b[201~\x1b[200~y\x1b[201~"}, "<x><y>"},
		{"no end", []string{"\x1b[200~x"}, "<x>"},
		{"burst", []string{"one\rtwo\r"}, "<one\rtwo\r>"},
		{"burst goes on", []string{"one\rtwo", "three\r"}, "<one\rtwothree\r>"},
		{"a key ends a burst", []string{"one\rtwo", "\x1b[A"}, "<one\rtwo>\x1b[A"},
		{"text and Enter is typing", []string{"one\r"}, "one\r"},
		{"Enters are typing", []string{"\r\r\r"}, "\r\r\r"},
		{"half a start that is another key", []string{"\x1b[2", "~"}, "\x1b[2~"},
		{"end inside the text, then Enter", []string{"\x1b[200~a\x1b[201~b\rc\x1b[201~"}, "<a><b\rc>"},
		{"half a character", []string{"a\xe5", "\xae", "\xbdb"}, "a宽b"},
		{"a character that never ends", []string{"a\xe5", "b"}, "a\xe5b"},
		{"bad bytes", []string{"\x1b[200~a\xffb\x1b[201~"}, "<a\ufffdb>"},
	} {
		if got := guarded(tc.pieces...); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Byte by byte, in random pieces or at once: the same keys and pastes, as long
// as there is no burst, which is told by what arrives together.
func TestGuardIsTheSameInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	parts := []string{"a", "宽", "\t", "\x1b[A", "\x1b[200~", "\x1b[201~", "\x1b", "[", "2", "~", "\x1b[<35;1;2M"}
	for range 5000 {
		var in string
		for range rng.IntN(12) {
			in += parts[rng.IntN(len(parts))]
		}
		if strayEnd(in) {
			continue
		}
		var bytes, pieces []string
		for i := range len(in) {
			bytes = append(bytes, in[i:i+1])
		}
		for rest := in; rest != ""; {
			n := min(1+rng.IntN(5), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		whole := guarded(in)
		if got := guarded(bytes...); got != whole {
			t.Fatalf("%q byte by byte: %q, at once %q", in, got, whole)
		}
		if got := guarded(pieces...); got != whole {
			t.Fatalf("%q in %q: %q, at once %q", in, pieces, got, whole)
		}
	}
}

// strayEnd reports whether in ends a paste that it did not begin: how much of
// what stands before was pasted is told by what arrives together, too.
func strayEnd(in string) bool {
	for {
		end := strings.Index(in, "\x1b[201~")
		start := strings.Index(in, "\x1b[200~")
		switch {
		case end < 0:
			return false
		case start < 0 || end < start:
			return true
		}
		in = in[start+6:]
		if end = strings.Index(in, "\x1b[201~"); end < 0 {
			return false
		}
		in = in[end+6:]
	}
}

func TestGuardBoundsAPaste(t *testing.T) {
	var store pasteStore
	g := guard{store: &store}
	var out strings.Builder
	out.Write(g.feed(pasteStart))
	block := []byte(strings.Repeat("x", 1<<20))
	for range 20 {
		out.Write(g.feed(block))
	}
	if len(g.paste) > maxPasteBytes {
		t.Errorf("%d bytes are held", len(g.paste))
	}
	out.Write(g.feed([]byte("\x1b[201~b")))
	if got := decode(&store, out.String()); !strings.HasSuffix(got, ">b") || len(got) < maxPasteBytes-100 {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(len(got)-10, 0):])
	}
}

func FuzzGuard(f *testing.F) {
	f.Add("a\x1b[200~b", "\x1b[201~c")
	f.Fuzz(func(t *testing.T, a, b string) {
		var store pasteStore
		g := guard{store: &store}
		out := string(g.feed([]byte(a))) + string(g.feed([]byte(b)))
		for n := 0; g.wait() > 0; n++ {
			if n > 3 {
				t.Fatal("the guard never comes to rest")
			}
			out += string(g.expire())
		}
		if n := strings.Count(out, "zot-paste-"); n > len(a)+len(b) {
			t.Fatalf("%d references", n)
		}
	})
}
