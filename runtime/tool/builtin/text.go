package builtin

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

const (
	// sniffLen is how much of a file decides whether it is text, for read and
	// for edit alike.
	sniffLen = 8 << 10
	// maxWhole is the largest file that is loaded as a whole: all that edit
	// changes, and all whose encoding read looks at in full.
	maxWhole = 32 << 20
)

// magics are binary formats that agents meet and that net/http does not name.
var magics = []struct{ prefix, kind string }{
	{"\x7fELF", "an ELF program or library"},
	{"\xcf\xfa\xed\xfe", "a Mach-O program or library"},
	{"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"},
	{"MZ", "a Windows program or library"},
	{"\x00asm", "a WebAssembly module"},
	{"SQLite format 3\x00", "a SQLite database"},
	{"\x28\xb5\x2f\xfd", "a Zstandard archive"},
	{"\xfd7zXZ\x00", "an XZ archive"},
	{"BZh", "a bzip2 archive"},
	{"\xff\xfe", "UTF-16 text; convert it with iconv first"},
	{"\xfe\xff", "UTF-16 text; convert it with iconv first"},
}

// binaryKind names what the start of a file shows it to be, or "" for text.
func binaryKind(head []byte) string {
	head = head[:min(len(head), sniffLen)]
	kind := http.DetectContentType(head)
	if bytes.IndexByte(head, 0) < 0 && !bytes.HasPrefix(head, []byte("\xff\xfe")) && !bytes.HasPrefix(head, []byte("\xfe\xff")) {
		// A format may do without zero bytes at its start; text never looks so.
		switch kind {
		case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "application/zip", "application/x-gzip":
			return kind
		}
		return ""
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return m.kind
		}
	}
	if strings.HasPrefix(kind, "text/") {
		kind = "application/octet-stream"
	}
	return kind
}

func errBinary(path, kind string, n int64) error {
	return fmt.Errorf("%q is not text but binary (%s, %s)", path, kind, size(n))
}

// An encoding says how the bytes of a text file become characters and back.
// Edits happen on bytes, so whatever the encoding, what is not replaced stays.
type encoding int

const (
	utf8Text encoding = iota
	// legacyText has bytes that are not UTF-8 and no character that is encoded
	// in UTF-8: one byte a character. It is shown as Windows-1252, in which each
	// byte has its character and the other way round.
	legacyText
	// mixedText has both; its odd bytes are shown as U+FFFD and match nothing.
	mixedText
)

// detect looks at a whole file.
func detect(data []byte) encoding {
	if utf8.Valid(data) {
		return utf8Text
	}
	for len(data) > 0 {
		i := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
		if i < 0 {
			break
		}
		data = data[i:]
		r, n := utf8.DecodeRune(data)
		if r != utf8.RuneError || n > 1 {
			return mixedText
		}
		data = data[1:]
	}
	return legacyText
}

// decode gives the characters of bytes.
func (e encoding) decode(b []byte) string {
	if e == legacyText {
		runes := make([]rune, len(b))
		for i, c := range b {
			runes[i] = legacyRune(c)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// encode gives the bytes of characters, or an error if there are none for one.
func (e encoding) encode(s string) ([]byte, error) {
	if e != legacyText {
		return []byte(s), nil
	}
	var b []byte
	for _, r := range s {
		c, ok := charmap.Windows1252.EncodeRune(r)
		if !ok && r < 0x100 && legacyRune(byte(r)) == r {
			c, ok = byte(r), true
		}
		if !ok {
			return nil, fmt.Errorf("the file is in a one-byte encoding (taken for Windows-1252) that has no %q: convert the file to UTF-8 first, with iconv", r)
		}
		b = append(b, c)
	}
	return b, nil
}

// legacyRune is the character of a byte; the five that Windows-1252 leaves
// open stand for the control characters of the same number.
func legacyRune(c byte) rune {
	if r := charmap.Windows1252.DecodeByte(c); r != utf8.RuneError {
		return r
	}
	return rune(c)
}

// note tells the model what it cannot see.
func (e encoding) note() string {
	switch e {
	case legacyText:
		return "the file is not UTF-8 but in a one-byte encoding, shown as Windows-1252; edit keeps it"
	case mixedText:
		return "some bytes are not UTF-8 and shown as \uFFFD; edit keeps them and cannot match them"
	}
	return ""
}

// countLines counts lines as editors do: a last one without an end is one.
func countLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// lineAt is the number, from 1, of the line that holds byte pos.
func lineAt(b []byte, pos int) int { return 1 + bytes.Count(b[:pos], []byte{'\n'}) }
