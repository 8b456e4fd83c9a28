package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TabWidth is the number of spaces that a tab is drawn as.
const TabWidth = 4

// cleanMode says what of an escape sequence has been read.
type cleanMode int

const (
	ground   cleanMode = iota
	escape             // after ESC
	csi                // after ESC [
	str                // in an OSC, DCS, APC, PM or SOS string
	strEsc             // in such a string, after ESC
	escInter           // after ESC and an intermediate byte
)

// A Cleaner takes terminal control sequences out of text that arrives in
// pieces; a sequence cut between two pieces is still seen. The zero value
// removes everything, SGR included.
type Cleaner struct {
	// KeepSGR lets colour and style sequences pass.
	KeepSGR bool
	// KeepCR lets a bare carriage return pass, for [Overwrite].
	KeepCR bool

	mode cleanMode
	seq  []byte // the CSI so far
	utf8 []byte // an unfinished character
	cr   bool   // the last character was a carriage return not yet decided
	out  strings.Builder
}

// maxSeq bounds a CSI sequence; a longer one is dropped like any other.
const maxSeq = 256

// Write returns the part of s that may be shown. Line feeds stay, CRLF becomes
// LF, tabs become spaces, other control, bidirectional and invisible
// characters go, and broken UTF-8 becomes U+FFFD.
func (c *Cleaner) Write(s string) string {
	if c.mode == ground && !c.cr && len(c.utf8) == 0 && plainASCII(s) {
		return s
	}
	if len(c.utf8) > 0 {
		s = string(c.utf8) + s
		c.utf8 = c.utf8[:0]
	}
	c.out.Reset()
	c.out.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(s[i:]) {
			c.utf8 = append(c.utf8, s[i:]...)
			break
		}
		c.rune(r)
		i += n
	}
	return c.out.String()
}

// Flush returns what was held back for more input.
func (c *Cleaner) Flush() string {
	c.out.Reset()
	if c.cr {
		c.cr = false
		if c.KeepCR {
			c.out.WriteByte('\r')
		}
	}
	if len(c.utf8) > 0 {
		c.utf8 = c.utf8[:0]
		c.out.WriteRune(utf8.RuneError)
	}
	c.mode = ground
	return c.out.String()
}

func (c *Cleaner) rune(r rune) {
	// A line feed ends any sequence that was never finished: without this, one
	// stray byte would swallow the rest of the text.
	if r == '\n' && c.mode != ground {
		c.mode = ground
	}
	switch c.mode {
	case ground:
		c.plain(r)
	case escape:
		c.afterEscape(r)
	case escInter:
		if r < 0x20 || r > 0x2f {
			c.mode = ground
		}
	case csi:
		c.inCSI(r)
	case str:
		switch r {
		case 0x07, 0x9c:
			c.mode = ground
		case 0x1b:
			c.mode = strEsc
		}
	case strEsc:
		c.mode = ground
		if r != '\\' {
			c.afterEscape(r)
		}
	}
}

func (c *Cleaner) afterEscape(r rune) {
	switch {
	case r == '[':
		c.mode, c.seq = csi, c.seq[:0]
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.mode = str
	case r >= 0x20 && r <= 0x2f:
		c.mode = escInter
	case r == 0x1b:
		c.mode = escape
	case r < 0x20 || r >= 0x7f:
		c.mode = ground
		c.plain(r)
	default:
		c.mode = ground
	}
}

func (c *Cleaner) inCSI(r rune) {
	switch {
	case r == 0x1b:
		c.mode = escape
	case r >= 0x40 && r <= 0x7e:
		c.mode = ground
		if r == 'm' && c.KeepSGR && len(c.seq) < maxSeq && sgrParams(c.seq) {
			c.out.WriteString("\x1b[")
			c.out.Write(c.seq)
			c.out.WriteByte('m')
		}
	case r >= 0x20 && r <= 0x3f:
		if len(c.seq) < maxSeq {
			c.seq = append(c.seq, byte(r))
		}
	case r < 0x20:
		// A control inside a sequence acts by itself for a terminal; here it
		// does nothing.
	default:
		c.mode = ground
		c.plain(r)
	}
}

// sgrParams reports whether p is digits, semicolons and colons only; "?4"
// before an m is a keyboard mode and no style.
func sgrParams(p []byte) bool {
	for _, b := range p {
		if (b < '0' || b > '9') && b != ';' && b != ':' {
			return false
		}
	}
	return true
}

func (c *Cleaner) plain(r rune) {
	if c.cr {
		c.cr = false
		if r != '\n' && c.KeepCR {
			c.out.WriteByte('\r')
		}
	}
	switch {
	case r == '\n':
		c.out.WriteByte('\n')
	case r == '\r':
		c.cr = true
	case r == '\t':
		c.out.WriteString("    ")
	case r == 0x1b:
		c.mode = escape
	case r == 0x9b:
		c.mode, c.seq = csi, c.seq[:0]
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.mode = str
	case r == 0x2028 || r == 0x2029:
		c.out.WriteByte('\n')
	case Hidden(r), r == PictureCell:
	default:
		c.out.WriteRune(r)
	}
}

// PictureCell stands for a cell of a picture on terminals that draw pictures. It
// is safe on a row, but only the host may write it: Clean takes it out.
const PictureCell = '\U0010eeee'

// Hidden reports whether r shows nothing, or changes how its neighbours show:
// controls, bidirectional marks, invisible and tag characters.
func Hidden(r rune) bool {
	switch {
	case r < 0x20 || (r >= 0x7f && r < 0xa0):
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f && r != 0x200c && r != 0x200d:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b >= 0x7f || (b < 0x20 && b != '\n') {
			return false
		}
	}
	return true
}

// Clean removes everything but text and line feeds.
func Clean(s string) string {
	if plainASCII(s) {
		return s
	}
	var c Cleaner
	return c.Write(s) + c.Flush()
}

// Line is Clean for text that must stay on one row.
func Line(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(Clean(s), "\n", " "))
}

// CleanSGR is Clean, but colours and styles stay.
func CleanSGR(s string) string {
	if plainASCII(s) {
		return s
	}
	c := Cleaner{KeepSGR: true}
	return c.Write(s) + c.Flush()
}

// CleanOutput is CleanSGR for what programs print: bare carriage returns
// overwrite their line, as a progress bar means them to.
func CleanOutput(s string) string {
	if plainASCII(s) {
		return s
	}
	c := Cleaner{KeepSGR: true, KeepCR: true}
	return Overwrite(c.Write(s) + c.Flush())
}

// Overwrite keeps, of every line, what follows its last carriage return.
func Overwrite(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if j := strings.LastIndexByte(line, '\r'); j >= 0 {
			line = line[j+1:]
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// Visible shows what Clean would hide: controls as ^X, other invisible
// characters as \u{…}. It is for text that is about to be approved, where every
// byte counts. Line feeds stay.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "\\x%02x", s[i])
		case r == '\n':
			b.WriteByte('\n')
		case r < 0x20:
			b.WriteByte('^')
			b.WriteByte(byte(r) + '@')
		case r == 0x7f:
			b.WriteString("^?")
		case Hidden(r) || r == 0x200c || r == 0x200d || (r > 0x7f && unicode.Is(unicode.Zs, r)) || unicode.Is(unicode.Variation_Selector, r):
			fmt.Fprintf(&b, "\\u{%x}", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Safe reports whether row holds text and colours only, on one line.
func Safe(row string) bool {
	for i := 0; i < len(row); i++ {
		b := row[i]
		switch {
		case b >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(row[i:])
			if Hidden(r) || (r == utf8.RuneError && n == 1) {
				return false
			}
			i += n - 1
		case b == 0x1b:
			j := i + 1
			if j < len(row) && row[j] == '[' {
				j++
			}
			for j < len(row) && (row[j] >= '0' && row[j] <= '9' || row[j] == ';' || row[j] == ':') {
				j++
			}
			if j >= len(row) || row[j] != 'm' || row[i+1] != '[' {
				return false
			}
			i = j
		case b < 0x20 || b == 0x7f:
			return false
		}
	}
	return true
}
