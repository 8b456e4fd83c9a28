// Package style resolves named looks ("accent", "md.heading.1", "diff.add") to
// the terminal sequences of one colour profile.
//
// A [Palette] says what a theme wants; a [Sheet] is that palette made ready for
// one terminal: full colour, 256 or 16 colours, or none. Everything that draws
// asks a Sheet by [Token] and never names a colour.
package style

import (
	"strings"

	"github.com/patriceckhart/zot/tui/screen"
)

// A Token names one look. A token that a palette lacks has the look of its
// parent by dots, and at last of "fg".
type Token string

// The tokens of a theme.
const (
	FG        Token = "fg"
	Muted     Token = "muted"
	Accent    Token = "accent"
	Success   Token = "success"
	Warn      Token = "warn"
	Error     Token = "error"
	Border    Token = "border"
	Selection Token = "selection"
	Caret     Token = "caret"

	User        Token = "user"
	UserBG      Token = "user.bg"
	Thinking    Token = "thinking"
	Note        Token = "note"
	Display     Token = "display"
	Tool        Token = "tool"
	ToolOK      Token = "tool.ok"
	ToolError   Token = "tool.error"
	PanelTitle  Token = "panel.title"
	DialogTitle Token = "dialog.title"
	Status      Token = "status"
	Queue       Token = "queue"

	Heading   Token = "md.heading"
	Strong    Token = "md.strong"
	Em        Token = "md.em"
	Code      Token = "md.code"
	CodeBlock Token = "md.codeblock"
	Link      Token = "md.link"
	URL       Token = "md.url"
	Quote     Token = "md.quote"
	List      Token = "md.list"
	Rule      Token = "md.rule"
	Table     Token = "md.table"

	DiffAdd     Token = "diff.add"
	DiffDel     Token = "diff.del"
	DiffContext Token = "diff.context"
	DiffHunk    Token = "diff.hunk"
	DiffLineNo  Token = "diff.lineno"

	SynComment  Token = "syn.comment"
	SynKeyword  Token = "syn.keyword"
	SynFunc     Token = "syn.func"
	SynType     Token = "syn.type"
	SynString   Token = "syn.string"
	SynNumber   Token = "syn.number"
	SynOperator Token = "syn.operator"

	ContextOK   Token = "ctx.ok"
	ContextWarn Token = "ctx.warn"
	ContextFull Token = "ctx.full"
)

// Tokens lists every token above.
var Tokens = []Token{
	FG, Muted, Accent, Success, Warn, Error, Border, Selection, Caret,
	User, UserBG, Thinking, Note, Display, Tool, ToolOK, ToolError, PanelTitle, DialogTitle, Status, Queue,
	Heading, Strong, Em, Code, CodeBlock, Link, URL, Quote, List, Rule, Table,
	DiffAdd, DiffDel, DiffContext, DiffHunk, DiffLineNo,
	SynComment, SynKeyword, SynFunc, SynType, SynString, SynNumber, SynOperator,
	ContextOK, ContextWarn, ContextFull,
}

// A Look is what a theme says about a token. Colours are "#rrggbb", "0" to
// "255", one of the sixteen names ("red", "bright-red"), or empty for the
// terminal's own.
type Look struct {
	FG, BG    string
	Bold      bool
	Dim       bool
	Italic    bool
	Underline bool
	Reverse   bool
	Strike    bool
	ANSI16    string // foreground on a terminal of sixteen colours
	ANSI256   string // foreground on a terminal of 256 colours
}

// A Palette is a theme for one background, as tokens and looks.
type Palette map[Token]Look

// Profile says what a terminal can show.
type Profile int

// The profiles, from none to all.
const (
	Mono Profile = iota // attributes, no colours
	ANSI16
	ANSI256
	TrueColor
)

// A Sheet is a palette for one terminal. It is read-only after [New] and safe
// for use by several goroutines.
type Sheet struct {
	Profile Profile
	ASCII   bool
	Glyphs  Glyphs
	sgr     map[Token]string
	ansi    [16]string // foreground sequences that programs' output is mapped to
}

// New resolves p for profile. ascii chooses glyphs of one byte.
func New(p Palette, profile Profile, ascii bool) *Sheet {
	s := &Sheet{Profile: profile, ASCII: ascii, Glyphs: unicodeGlyphs, sgr: make(map[Token]string, len(Tokens))}
	if ascii {
		s.Glyphs = asciiGlyphs
	}
	for _, t := range Tokens {
		s.sgr[t] = s.resolve(p, t)
	}
	s.resolveANSI(p)
	return s
}

func (s *Sheet) resolve(p Palette, t Token) string {
	if s.Profile == Mono {
		return monoLook(t).sequence(Mono)
	}
	for name := t; ; {
		if look, ok := p[name]; ok {
			if s.Profile == ANSI16 {
				return look16(t, look).sequence(ANSI16)
			}
			return look.sequence(s.Profile)
		}
		i := strings.LastIndexByte(string(name), '.')
		if i < 0 {
			break
		}
		name = name[:i]
	}
	if s.Profile == ANSI16 {
		return look16(t, Look{}).sequence(ANSI16)
	}
	return p[FG].sequence(s.Profile)
}

// SGR is the sequence that begins the look of t; it may be empty. A token that
// is not in [Tokens] takes its parent's.
func (s *Sheet) SGR(t Token) string {
	for {
		if sgr, ok := s.sgr[t]; ok {
			return sgr
		}
		i := strings.LastIndexByte(string(t), '.')
		if i < 0 {
			return s.sgr[FG]
		}
		t = t[:i]
	}
}

// Paint gives text the look of t.
func (s *Sheet) Paint(t Token, text string) string {
	sgr := s.SGR(t)
	if sgr == "" || text == "" {
		return text
	}
	return sgr + text + screen.Reset
}

// Span is Paint for the wrapping functions of package screen.
func (s *Sheet) Span(t Token, text string) screen.Span {
	return screen.Span{Text: text, SGR: s.SGR(t)}
}

// Glyphs are the characters of the interface's own furniture.
type Glyphs struct {
	Rule, Bar, Bullet, Prompt, Pointer, Ellipsis string
	Check, Cross, Dot, Up, Down, Plus            string
	Spinner                                      []string
}

var unicodeGlyphs = Glyphs{
	Rule: "─", Bar: "│", Bullet: "•", Prompt: "›", Pointer: "▸", Ellipsis: "…",
	Check: "✓", Cross: "✗", Dot: "●", Up: "↑", Down: "↓", Plus: "+",
	Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
}

var asciiGlyphs = Glyphs{
	Rule: "-", Bar: "|", Bullet: "*", Prompt: ">", Pointer: ">", Ellipsis: "...",
	Check: "+", Cross: "x", Dot: "*", Up: "^", Down: "v", Plus: "+",
	Spinner: []string{"-", "\\", "|", "/"},
}
