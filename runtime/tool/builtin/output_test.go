package builtin

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func cleaned(parts ...string) (string, *cleaner) {
	var out strings.Builder
	c := newCleaner(func(p []byte) { out.Write(p) })
	for _, p := range parts {
		c.write([]byte(p))
	}
	c.finish()
	return out.String(), c
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"dos\r\nline\r\n", "dos\nline\n"},
		{"1%\r2%\r3%\n", "3%\n"},
		{"kept\r", "kept"},
		{"kept\r\r\n", "kept\n"},
		{"\x1b[1;31mred\x1b[m", "red"},
		{"\x1b[2J\x1b[Hscreen", "screen"},
		{"old\x1b[1Gnew", "new"},
		{"\x1b]0;title\x07text", "text"},
		{"\x1b]52;c;Y2xpcA==\x1b\\text", "text"},
		{"\x1bPq#0\x1b\\text", "text"},
		{"\x1b]0;broken off\nnext", "\nnext"},
		{"\x1b[31", ""},
		{"\x1b(Btext\x1b7\x1bc", "text"},
		{"bo\bold", "bold"},
		{"ä\bx", "x"},
		{"\bx", "x"},
		{"a\x07b\x0ec", "abc"},
		{"one\x00two", "one␀two"},
		{"a\fb", "a\nb"},
		{"\u009b31mx", "31mx"},
		{"\xff\xfe", "\uFFFD\uFFFD"},
		{"half \xe6\xbc", "half \uFFFD"},
		{"漢字 🎉", "漢字 🎉"},
	} {
		if got, _ := cleaned(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
		if got, _ := cleaned(strings.Split(c.in, "")...); got != c.want && utf8.ValidString(c.in) {
			t.Errorf("clean(%q) in pieces = %q, want %q", c.in, got, c.want)
		}
		var single []string
		for i := range len(c.in) {
			single = append(single, c.in[i:i+1])
		}
		if got, _ := cleaned(single...); got != c.want {
			t.Errorf("clean(%q) byte by byte = %q, want %q", c.in, got, c.want)
		}
	}
	if _, c := cleaned("1\r2\r3\n4\r5"); c.overdrawn != 3 {
		t.Errorf("%d lines drawn over, want 3", c.overdrawn)
	}
}

// FuzzClean: nothing that a terminal would act on comes through, and how the
// stream was cut into reads makes no difference.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\r\n\x1b]0;t\x07\xff\x00\b", uint(3))
	f.Fuzz(func(t *testing.T, in string, at uint) {
		whole, _ := cleaned(in)
		for _, r := range whole {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("clean(%q) has %q", in, r)
			}
		}
		if !utf8.ValidString(whole) {
			t.Fatalf("clean(%q) is not UTF-8", in)
		}
		n := int(at % uint(len(in)+1))
		if got, _ := cleaned(in[:n], in[n:]); got != whole {
			t.Fatalf("clean(%q) cut at %d = %q, else %q", in, n, got, whole)
		}
	})
}

// TestOutputMemoryIsFlat prints much, in lines, in one line, and in
// a progress bar.
func TestOutputMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("prints much")
	}
	line := strings.Repeat(strings.Repeat("x", 79)+"\n", 800)
	for name, chunk := range map[string]string{
		"lines": line, "one line": strings.Repeat("y", 64_000), "bar": strings.Repeat("50% ####\r", 8000), "colours": strings.Repeat("\x1b[31mred\x1b[m\n", 5000),
	} {
		o := newOutput(Options{}.withDefaults(), func(string) {})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const total = 48 << 20
		size := total
		if name == "bar" || name == "colours" {
			size /= 2
		}
		p := []byte(chunk)
		for n := 0; n < size; n += len(p) {
			o.write(p)
		}
		o.write([]byte("\nthe error\n"))
		o.close()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
			t.Errorf("%s: %d MiB were allocated", name, used>>20)
		}
		text, _ := o.text()
		if !strings.HasSuffix(text, "the error\n") || len(text) > 52<<10 {
			t.Errorf("%s: %d bytes, ending in %q", name, len(text), text[max(0, len(text)-40):])
		}
	}
}

// TestCutLosesNothingUntold: what is shown and what is said to be left out
// make the whole, whatever the sizes.
func TestCutLosesNothingUntold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := newCut(300+rnd.IntN(300), 10+rnd.IntN(20))
		var all strings.Builder
		for range rnd.IntN(30) {
			part := strings.Repeat("é", rnd.IntN(60))
			if rnd.IntN(3) > 0 {
				part += "\n"
			}
			if part == "" {
				continue
			}
			all.WriteString(part)
			c.add([]byte(part))
		}
		text, whole := c.text(), all.String()
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
		if !c.dropped() {
			if text != whole {
				t.Fatalf("nothing is left out, and %q became %q", whole, text)
			}
			continue
		}
		head, tail, ok := strings.Cut(text, "[... ")
		_, tail, _ = strings.Cut(tail, "]\n")
		if !ok || !strings.HasPrefix(whole, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(whole, tail) {
			t.Fatalf("%q is not the start and the end of %q", text, whole)
		}
		if len(head)+len(tail) > c.maxBytes+1 || strings.Count(head+tail, "\n") > c.maxLines+1 {
			t.Fatalf("%d bytes are more than %d", len(head)+len(tail), c.maxBytes)
		}
	}
}

func BenchmarkOutput(b *testing.B) {
	p := []byte(strings.Repeat(strings.Repeat("x", 79)+"\n", 800))
	o := newOutput(Options{}.withDefaults(), nil)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		o.write(p)
	}
	if text, _ := o.text(); text == "" {
		b.Fatal("no text")
	}
}
