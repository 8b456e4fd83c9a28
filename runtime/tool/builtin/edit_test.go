package builtin

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patriceckhart/zot/policies/paths"
)

// TestEditKeepsBytes: old and new text come with LF, as models write them.
func TestEditKeepsBytes(t *testing.T) {
	for _, c := range []struct {
		name, file string
		edits      []string
		want       string
	}{
		{"crlf", "a\r\nb\r\nc\r\n", []string{"a\nb", "A\nB\nB2"}, "a\r\nb\r\nc\r\n→A\r\nB\r\nB2\r\nc\r\n"},
		{"mixed, lines of the edit that stay", "a\r\nb\nc\r\nd\n", []string{"a\nb\nc", "a\nb\nC"}, "→a\r\nb\nC\r\nd\n"},
		{"mixed, new line takes the end around it", "a\nb\r\nc\n", []string{"b", "b\nb2"}, "→a\nb\r\nb2\r\nc\n"},
		{"mixed, several edits", "a\r\nb\nc\r\nd\n", []string{"a\nb", "A\nB", "c\nd", "C\nD"}, "→A\r\nB\nC\r\nD\n"},
		{"crlf spelled out", "a\r\nb\r\n", []string{"a\r\n", "a\n"}, "→a\nb\r\n"},
		{"line removed", "a\r\nb\r\nc\r\n", []string{"b\n", ""}, "→a\r\nc\r\n"},
		{"no end, stays so", "a\nb", []string{"b", "B"}, "→a\nB"},
		{"no end, crlf above", "a\r\nb", []string{"b", "B\nC"}, "→a\r\nB\r\nC"},
		{"bom", "\ufeffa\nb\n", []string{"a", "A"}, "→\ufeffA\nb\n"},
		{"legacy, line between", "x\xe4\nmid\ny\xf3\n", []string{"mid", "MID"}, "→x\xe4\nMID\ny\xf3\n"},
		{"legacy, its own letters", "x\xe4\nmid\ny\xf3\n", []string{"xä", "Öx"}, "→\xd6x\nmid\ny\xf3\n"},
		{"mixed encodings", "ä\xe4\nmid\n", []string{"mid", "ü"}, "→ä\xe4\nü\n"},
		{"trailing blanks in the file", "if x {  \n\ty()\n}\n", []string{"if x {\n\ty()", "if x {\n\tz()"}, "→if x {  \n\tz()\n}\n"},
		{"trailing blanks in the edit", "a\nb\n", []string{"a  \nb", "a\nB"}, "→a\nB\n"},
		{"quotes", "say “hi” – now\n", []string{`say "hi" - now`, "x"}, "→x\n"},
		{"tabs for spaces", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", []string{"    if a {\n        b()\n    }\n", "    if a {\n        b()\n        c()\n            d()\n    }\n"},
			"→func f() {\n\tif a {\n\t\tb()\n\t\tc()\n\t\t    d()\n\t}\n}\n"},
		{"shifted left", "\t\tx := 1\n\t\ty := 2\n", []string{"x := 1\ny := 2", "x := 1\nif z {\n\ty := 3\n}"}, "→\t\tx := 1\n\t\tif z {\n\t\t\ty := 3\n\t\t}\n"},
		{"order in the call does not matter", "1\n2\n3\n", []string{"3", "c", "1", "a"}, "→a\n2\nc\n"},
		{"matched against the original", "a\nb\n", []string{"a", "b", "b", "c"}, "→b\nc\n"},
		{"neighbours", "ab", []string{"a", "1", "b", "2"}, "→12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.file("f", c.file)
			b.ok("edit", edit("f", c.edits...))
			_, want, _ := strings.Cut(c.want, "→")
			b.holds("f", want)
			b.only("f")
		})
	}
}

func TestEditReplaceAll(t *testing.T) {
	b := newBench(t)
	b.file("f", "x = 1\r\ny\nx = 1\r\nz\nx = 1\n")
	args := edit("f", "x = 1\n", "x = 2\nw\n")
	b.fails("edit", args, "there 3 times", "lines 1, 3, 5", "replaceAll")
	args["replaceAll"] = true
	has(t, b.ok("edit", args), "3 occurrences", "lines 1, 3, 5", "+6 -3")
	b.holds("f", "x = 2\r\nw\r\ny\nx = 2\r\nw\r\nz\nx = 2\nw\n")
}

func TestEditOnceExactlyTwiceLoosely(t *testing.T) {
	b := newBench(t)
	b.file("f", "a  \nb\n--\na\nb\n")
	b.ok("edit", edit("f", "a\nb", "c"))
	b.holds("f", "a  \nb\n--\nc\n")
	b.file("g", "a  \nb\n--\na\t\nb\n")
	b.fails("edit", edit("g", "a\nb", "c"), "2 times", "white space", "lines 1, 4")
}

func TestEditErrors(t *testing.T) {
	b := newBench(t)
	b.file("f", "func main() {\n\tfmt.Println(\"hello\")\n\treturn\n}\n")
	text := b.fails("edit", edit("f", "func main() {\n\tfmt.Println(\"hallo\")\n", "x"),
		b.path("f"), "not found", "nearest text is at line 1", "2 | \tfmt.Println", "at line 2 the file has", "hello", "hallo", "nothing was changed")
	if strings.Contains(text, "edit 1 of") {
		t.Error("a single edit is numbered")
	}
	b.fails("edit", edit("f", "return", "stop", "quite something else", "y"), "edit 2 of 2", "not found", "nothing in the file is like it")
	b.fails("edit", edit("f", "gone", "func main() {"), "newText is there already")
	b.fails("edit", edit("f", "fmt.Println(\"hello\")\n\treturn", "x", "return", "y"), "edits 1 and 2 overlap at line 3")
	b.fails("edit", edit("f", "return", "x", "return", "y"), "overlap")
	b.fails("edit", edit("f", "   \n", "y"), "not found")
	b.fails("edit", edit(".", "a", "b"), "folder")
	b.file("legacy", "x\xe4\n")
	b.fails("edit", edit("legacy", "x", "漢"), "one-byte encoding", "漢")
	b.fails("edit", edit("legacy", "漢", "x"), "not found")
	b.holds("f", "func main() {\n\tfmt.Println(\"hello\")\n\treturn\n}\n")
	b.only("f", "legacy")
}

func TestEditResult(t *testing.T) {
	b := newBench(t)
	b.file("d/f", numbered(50))
	res := b.run("edit", edit("d/f", "line 20\n", "line twenty\n", "line 40\n", ""))
	has(t, res.Diff, "--- d/f\n+++ d/f\n", "@@ -17,7 +17,7 @@", "-line 20\n+line twenty\n", "-line 40\n")
	has(t, textOf(res), "edited", b.path("d/f"), "2 edits (+1 -2 lines)", "-line 20\n+line twenty\n")
	if strings.Contains(textOf(res), "line 17") {
		t.Error("the model's diff has more than a line around")
	}
}

// TestEditLosesNoOtherChange: the file is written by somebody else between the
// edit's read and its rename.
func TestEditLosesNoOtherChange(t *testing.T) {
	b := newBench(t)
	f := b.file("f", "mine\n")
	p, err := paths.Resolver{CWD: b.dir}.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	pl, err := paths.Hold(p)
	if err != nil {
		t.Fatal(err)
	}
	defer pl.Close()
	before := []byte("mine\n")
	if err := os.WriteFile(f, []byte("yours\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err = pl.Replace([]byte("x"), func() error { return unchanged(pl, before) })
	if err == nil || !strings.Contains(err.Error(), "changed while") || !strings.Contains(err.Error(), f) {
		t.Errorf("err = %v", err)
	}
	b.holds("f", "yours\n")
	if err := os.Remove(f); err != nil {
		t.Fatal(err)
	}
	err = pl.Replace([]byte("x"), func() error { return unchanged(pl, before) })
	if err == nil || !strings.Contains(err.Error(), "removed while") {
		t.Errorf("err = %v", err)
	}
	b.only()
}

func TestLegacyIsReversible(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	back, err := legacyText.encode(legacyText.decode(all))
	if err != nil || !bytes.Equal(back, all) {
		t.Errorf("%q came back as %q, %v", all, back, err)
	}
}

// FuzzEdit: whatever file and edits are, an edit that is done changes nothing
// outside of the places it names, puts the new text there, and one that is
// refused changes nothing at all.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "b", "B\nx", "c", "d", false)
	f.Add([]byte("\ufeffa  \nb\t\n"), "a\nb", "c", "zz", "y", false)
	f.Add([]byte("x\xe4\nmid\n"), "mid", "ä", "xä", "q", true)
	f.Add([]byte("\tif a {\n\t\tb()\n\t}\n"), "  if a {\n    b()\n  }", "  x", "nothing", "", true)
	f.Add([]byte("“a” \u00a0b\r\r\n"), "\"a\"  b\r\n", "1", "b", "2", false)
	f.Fuzz(func(t *testing.T, data []byte, old1, new1, old2, new2 string, all bool) {
		var edits []replacement
		for _, e := range []replacement{{old1, new1, all}, {old2, new2, all}} {
			if e.Old != "" && utf8.ValidString(e.Old) && utf8.ValidString(e.New) {
				edits = append(edits, e)
			}
		}
		if len(edits) == 0 {
			return
		}
		keep := bytes.Clone(data)
		p, err := planEdits(data, edits)
		if !bytes.Equal(keep, data) {
			t.Fatal("planning changed the original")
		}
		if err != nil {
			if len(p.changes) > 0 {
				t.Fatal("a refused plan has changes")
			}
			return
		}
		got := p.apply(data)
		at, out := 0, 0
		for _, c := range p.changes {
			if c.start < at || c.end <= c.start || c.end > len(data) {
				t.Fatalf("change %+v after %d of %d bytes", c, at, len(data))
			}
			same := c.start - at
			if !bytes.Equal(got[out:out+same], data[at:c.start]) {
				t.Fatalf("bytes before %d changed", c.start)
			}
			out += same
			if !bytes.Equal(got[out:out+len(c.text)], c.text) {
				t.Fatalf("the new text is not at %d", out)
			}
			out += len(c.text)
			at = c.end
			checkEnds(t, data, c, edits[c.edit])
		}
		if !bytes.Equal(got[out:], data[at:]) {
			t.Fatal("bytes after the last change changed")
		}
		if plain(data, edits[0]) && len(edits) == 1 && !all && !bytes.Equal(got, bytes.Replace(data, []byte(edits[0].Old), []byte(edits[0].New), 1)) {
			t.Fatalf("a plain edit gave %q", got)
		}
	})
}

// checkEnds: in a file of one kind of line end the new text has that kind.
func checkEnds(t *testing.T, data []byte, c change, e replacement) {
	t.Helper()
	crlf, lf := bytes.Count(data, []byte("\r\n")), bytes.Count(data, []byte{'\n'})
	if lf == 0 || strings.Contains(e.Old, "\r") || strings.Contains(e.New, "\r") {
		return
	}
	gotCRLF, gotLF := bytes.Count(c.text, []byte("\r\n")), bytes.Count(c.text, []byte{'\n'})
	if crlf == 0 && gotCRLF > 0 || crlf == lf && gotCRLF != gotLF {
		t.Fatalf("%q went into %q", c.text, data)
	}
}

// plain: no rule but the exact one plays a part.
func plain(data []byte, e replacement) bool {
	return utf8.Valid(data) && !bytes.Contains(data, []byte{'\r'}) && !strings.Contains(e.New, "\r") &&
		bytes.Count(data, []byte(e.Old)) == 1
}

func TestNearestLooksPastIndentation(t *testing.T) {
	b := newBench(t)
	b.file("f", "{\n\tone()\n\ttwo()\n}\n")
	b.fails("edit", edit("f", "one()\n\tfour()", "x"), "at line 3 the file has \"\\ttwo()\" where oldText has \"\\tfour()\"")
}
