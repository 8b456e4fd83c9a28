package transcript

import (
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

func plain(s string) string { return screen.Clean(s) }

// User adds what the user sent. Images are described as lines.
func (t *Transcript) User(text string, images ...Image) { t.user(time.Time{}, text, images) }

func (t *Transcript) user(at time.Time, text string, images []Image) {
	t.endAnswer()
	u := &userText{time: at, src: strings.TrimRight(screen.Clean(text), "\n")}
	for _, img := range images {
		u.images = append(u.images, t.number(img))
	}
	t.add(&cell{content: u, gap: true})
	t.Bottom()
}

// number keeps a picture.
func (t *Transcript) number(img Image) numbered {
	t.images = append(t.images, message.Image(img))
	return numbered{len(t.images), img.describe(len(t.images))}
}

type userText struct {
	src    string
	time   time.Time
	images []numbered
}

// foldedUser is how many lines of a long prompt are shown.
const foldedUser = 20

// part is what is drawn of the text, and how many lines are not: a paste of
// megabytes is sent whole and must not be wrapped whole.
func (u *userText) part(d drawing) (text string, hidden int) {
	n := min(len(u.src), maxShown)
	if !d.unfolded {
		n = min(n, 4<<10)
		if end := endOfLine(u.src[:n], foldedUser); strings.Count(u.src, "\n") > foldedUser+4 && end > 0 {
			n = end
		}
	}
	if n == len(u.src) {
		return u.src, 0
	}
	return strings.ToValidUTF8(u.src[:n], ""), max(strings.Count(u.src[n:], "\n"), 1)
}

// endOfLine is where the line with that number ends; -1 if there are fewer.
func endOfLine(s string, n int) int {
	at := -1
	for range n {
		i := strings.IndexByte(s[at+1:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at
}

func (u *userText) text() string { return u.src }

func (u *userText) draw(_ *cell, d drawing) []string {
	s := d.sheet
	sgr := s.SGR(style.UserBG) + s.SGR(style.User)
	var rows []string
	if d.opt.Timestamps && !u.time.IsZero() {
		rows = append(rows, s.Paint(style.Muted, u.time.Local().Format("15:04")))
	}
	w := screen.Wrapper{Width: d.width,
		First: screen.Span{Text: s.Glyphs.Prompt + " ", SGR: sgr}, Rest: screen.Span{Text: "  ", SGR: sgr}}
	if src, hidden := u.part(d); src != "" {
		rows = append(rows, w.Rows([]screen.Span{{Text: src, SGR: sgr}})...)
		if hidden > 0 {
			rows = append(rows, folded(hidden, d))
		}
	}
	var below []string // the pictures have no background of ours
	for _, img := range u.images {
		rows = append(rows, w.Rows([]screen.Span{{Text: img.line, SGR: sgr}})...)
		below = append(below, d.pictureRows(img.n)...)
	}
	if bg := s.SGR(style.UserBG); bg != "" && s.Profile > style.ANSI16 {
		for i, r := range rows {
			if n := d.width - screen.Width(r); n > 0 {
				rows[i] = r + bg + strings.Repeat(" ", n) + screen.Reset
			}
		}
	}
	return append(rows, below...)
}

// line is a note, a display or a word of the host's own.
type line struct {
	name  string // who says so; empty for zot itself
	level string // info, success, warn, error; or empty
	src   string
	token style.Token
}

func (l *line) text() string { return l.src }

func (l *line) draw(_ *cell, d drawing) []string {
	s := d.sheet
	var head []screen.Span
	if l.name != "" {
		head = append(head, s.Span(style.Accent, "["+l.name+"] "))
	}
	token := l.token
	switch l.level {
	case "error":
		token = style.Error
		head = append(head, s.Span(style.Error, "error: "))
	case "warn":
		token = style.Warn
		head = append(head, s.Span(style.Warn, "warning: "))
	case "success":
		token = style.Success
	}
	var rows []string
	for i, text := range strings.Split(l.src, "\n") {
		spans := []screen.Span{s.Span(token, text)}
		if i == 0 {
			spans = append(append([]screen.Span(nil), head...), spans...)
		}
		rows = append(rows, screen.Wrapper{Width: d.width, Rest: screen.Span{Text: "  "}}.Rows(spans)...)
	}
	return rows
}

// maxNotes is how many notes of one extension are kept.
const maxNotes = 200

// Note adds a note of an extension. Its name is put before the text here and
// not by the extension, so no extension can speak for another.
func (t *Transcript) Note(ext, level, text string) {
	text = strings.TrimSpace(screen.Clean(text))
	if text == "" {
		return
	}
	ext = screen.Line(ext)
	t.add(&cell{content: &line{name: ext, level: level, src: text, token: style.Note}, owner: ext, note: true, gap: !t.lastIsNote()})
	t.limitNotes(ext)
}

func (t *Transcript) limitNotes(ext string) {
	n := 0
	for _, c := range t.cells {
		if c.note && c.owner == ext {
			n++
		}
	}
	if n <= maxNotes {
		return
	}
	drop := n - maxNotes
	t.remove(func(c *cell) bool {
		if c.note && c.owner == ext && drop > 0 {
			drop--
			return true
		}
		return false
	})
}

// Display adds one-shot text of an extension; it goes with its notes.
func (t *Transcript) Display(ext, text string) {
	text = strings.TrimRight(screen.Clean(text), "\n ")
	if text == "" {
		return
	}
	ext = screen.Line(ext)
	t.add(&cell{content: &line{name: ext, src: text, token: style.Display}, owner: ext, note: true, gap: true})
}

// Say adds a word of zot's own; it is cleared with the notes.
func (t *Transcript) Say(level, text string) {
	t.add(&cell{content: &line{level: level, src: strings.TrimRight(screen.Clean(text), "\n"), token: style.Muted}, owner: "", note: true, gap: !t.lastIsNote()})
}

// Mark adds a word of zot's own that stays: "interrupted", "compacted".
func (t *Transcript) Mark(level, text string) {
	t.endAnswer()
	t.add(&cell{content: &line{level: level, src: screen.Clean(text), token: style.Muted}, gap: true})
}

func (t *Transcript) lastIsNote() bool {
	return len(t.cells) > 0 && t.cells[len(t.cells)-1].note
}

// ClearNotes removes the notes of one extension.
func (t *Transcript) ClearNotes(ext string) bool {
	ext = screen.Line(ext)
	return t.remove(func(c *cell) bool { return c.note && c.owner == ext })
}

// ClearAllNotes removes every note, and reports whether there were any.
func (t *Transcript) ClearAllNotes() bool {
	return t.remove(func(c *cell) bool { return c.note })
}

// Lasting adds a word of zot's own that stays until [Transcript.ClearLasting]:
// failures to load that should not scroll by unseen. What is there already
// under the key is not said again.
func (t *Transcript) Lasting(key, level, text string) {
	text = screen.Clean(text)
	for _, c := range t.cells {
		if c.owner == lasting(key) && c.content.text() == text {
			return
		}
	}
	t.add(&cell{content: &line{level: level, src: text, token: style.Muted}, owner: lasting(key), gap: !t.lastIsNote()})
}

type lasting string

// ClearLasting removes what [Transcript.Lasting] added under the keys that
// begin with prefix.
func (t *Transcript) ClearLasting(prefix string) {
	t.remove(func(c *cell) bool {
		key, ok := c.owner.(lasting)
		return ok && strings.HasPrefix(string(key), prefix)
	})
}
