// Package style resolves named looks ("accent", "md.heading.1", "diff.add") to
// the terminal sequences of one colour profile.
//
// A [Palette] says what a theme wants (package theme reads it from a file); a
// [Sheet] is that palette made ready for one terminal: full colour, 256 or 16 colours, or none. Everything that draws
// asks a Sheet by [Token] and never names a colour.
package style

import (
	"strings"

	"charm.land/bubbles/v2/spinner"
	"charm.land/lipgloss/v2"

	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui/screen"
)

// A Token names one look. A token that a palette lacks has the look of its
// parent by dots, and at last of "fg".
type Token = theme.Token

// The tokens that the interface draws with.
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
	Assistant   Token = "assistant"
	Thinking    Token = "thinking"
	Note        Token = "note"
	Display     Token = "display"
	Tool        Token = "tool"
	ToolOK      Token = "tool.ok"
	ToolError   Token = "tool.error"
	PanelTitle  Token = "panel.title"
	DialogTitle Token = "dialog.title"
	ToolOut     Token = "tool.out"
	Spinner     Token = "spinner"
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

// A Palette is a theme for one background, as tokens and looks.
type Palette = theme.Palette

// Profile says what a terminal can show.
type Profile int

// The profiles, from none to all.
const (
	Mono Profile = iota // attributes, no colours
	ANSI16
	ANSI256
	TrueColor
)

// named is the profile in the words of package theme.
func (p Profile) named() theme.Profile {
	switch p {
	case TrueColor:
		return theme.TrueColor
	case ANSI256:
		return theme.ANSI256
	case ANSI16:
		return theme.ANSI16
	}
	return theme.Mono
}

// A Sheet is a palette for one terminal. It is read-only after [New] and safe
// for use by several goroutines.
type Sheet struct {
	Profile Profile
	ASCII   bool
	Glyphs  Glyphs
	sgr     map[Token]string
	looks   map[Token]lipgloss.Style
	ansi    [16]string // foreground sequences that programs' output is mapped to
}

// New resolves p for profile. ascii chooses glyphs of one byte.
func New(p Palette, profile Profile, ascii bool) *Sheet {
	s := &Sheet{Profile: profile, ASCII: ascii, Glyphs: unicodeGlyphs, sgr: map[Token]string{}, looks: map[Token]lipgloss.Style{}}
	if ascii {
		s.Glyphs = asciiGlyphs
	}
	shown := p.For(profile.named())
	for t, look := range shown {
		s.set(t, look)
	}
	for _, t := range theme.Tokens {
		if _, ok := s.sgr[t]; !ok {
			s.set(t, shown.Style(t))
		}
	}
	s.resolveANSI(p)
	return s
}

func (s *Sheet) set(t Token, look theme.Style) {
	s.looks[t], s.sgr[t] = rendered(look, s.Profile), sequence(look, s.Profile)
}

// Default is the built-in theme in its variant for a dark or a light background.
func Default(light bool) Palette {
	t, ok := theme.Builtin(theme.DefaultName)
	if !ok {
		return Palette{}
	}
	if light {
		return t.Light
	}
	return t.Dark
}

// SGR is the sequence that begins the look of t; it may be empty. A token that
// is not in [Tokens] takes its parent's.
func (s *Sheet) SGR(t Token) string { return s.sgr[s.known(t)] }

// Look is the look of t for components that draw with lipgloss.
func (s *Sheet) Look(t Token) lipgloss.Style { return s.looks[s.known(t)] }

// known is t, or the nearest of its parents that there is.
func (s *Sheet) known(t Token) Token {
	for {
		if _, ok := s.sgr[t]; ok {
			return t
		}
		i := strings.LastIndexByte(string(t), '.')
		if i < 0 {
			return FG
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
	Spinner: spinner.MiniDot.Frames,
}

var asciiGlyphs = Glyphs{
	Rule: "-", Bar: "|", Bullet: "*", Prompt: ">", Pointer: ">", Ellipsis: "...",
	Check: "+", Cross: "x", Dot: "*", Up: "^", Down: "v", Plus: "+",
	Spinner: spinner.Line.Frames,
}
