package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/tui/composer"
)

// An Action is what a key does in the conversation. The steps of the composer
// are actions too, under their own names.
type Action string

// The actions.
const (
	Send        Action = "send"
	Escape      Action = "cancel"
	Interrupt   Action = "interrupt"
	Quit        Action = "quit"
	Complete    Action = "complete"
	PageUp      Action = "page-up"
	PageDown    Action = "page-down"
	LineUp      Action = "line-up"
	LineDown    Action = "line-down"
	Top         Action = "top"
	Bottom      Action = "bottom"
	Fold        Action = "fold"
	Editor      Action = "editor"
	Redraw      Action = "redraw"
	TakeBack    Action = "take-back"
	Suspend     Action = "suspend"
	Pager       Action = "pager"
	Find        Action = "find"
	History     Action = "history"
	FocusPanel  Action = "focus-panel"
	PasteImage  Action = "paste-image"
	PickModel   Action = "model"
	PickSession Action = "sessions"
	Jump        Action = "jump"
)

// A Binding is an action with its keys and a line of help.
type Binding struct {
	Action Action
	Keys   []string
	Help   string
}

// Defaults are the bindings before a user changes them, in the order of help.
func Defaults() []Binding {
	b := func(a Action, help string, chords ...string) Binding { return Binding{a, chords, help} }
	s := func(step composer.Step, help string, chords ...string) Binding {
		return Binding{Action(step), chords, help}
	}
	return []Binding{
		b(Send, "send; queue while a turn runs", "enter"),
		s(composer.Newline, "new line (or \\ and enter)", "ctrl+j", "alt+enter", "shift+enter"),
		b(Escape, "close what is open; else stop the turn and clear the notes", "esc"),
		b(Interrupt, "stop the turn, else clear the prompt; twice to leave", "ctrl+c"),
		b(Quit, "leave, when the prompt is empty", "ctrl+d"),
		b(Complete, "complete a command or a file", "tab"),
		b(TakeBack, "take the queue back into the prompt", "alt+up"),
		b(Editor, "write the prompt in $EDITOR", "ctrl+g"),
		b(PasteImage, "paste a picture from the clipboard", "ctrl+v"),
		b(History, "search what was sent before", "ctrl+r"),
		b(PageUp, "scroll up a page", "pgup"),
		b(PageDown, "scroll down a page", "pgdown"),
		b(LineUp, "scroll up a row", "shift+up", "ctrl+up"),
		b(LineDown, "scroll down a row", "shift+down", "ctrl+down"),
		b(Top, "go to the start", "ctrl+home"),
		b(Bottom, "go to the end and follow it", "ctrl+end"),
		b(Find, "find in the conversation", "ctrl+f"),
		b(Jump, "jump to a prompt", "alt+j"),
		b(Fold, "show long output in full, or folded", "ctrl+o"),
		b(Pager, "read the conversation in $PAGER", "ctrl+t"),
		b(FocusPanel, "move between the prompt and a panel", "alt+p"),
		b(PickModel, "pick a model", "alt+m"),
		b(PickSession, "pick a session", "alt+s"),
		b(Redraw, "draw the screen anew", "ctrl+l"),
		b(Suspend, "suspend zot", "ctrl+z"),
		s(composer.Left, "left", "left"),
		s(composer.Right, "right", "right"),
		s(composer.WordLeft, "a word left", "alt+left", "ctrl+left", "alt+b"),
		s(composer.WordRight, "a word right", "alt+right", "ctrl+right", "alt+f"),
		s(composer.LineStart, "start of the line", "home", "ctrl+a"),
		s(composer.LineEnd, "end of the line", "end", "ctrl+e"),
		s(composer.Start, "start of the prompt", "alt+<"),
		s(composer.End, "end of the prompt", "alt+>"),
		s(composer.Up, "up; in the first row the prompt before", "up"),
		s(composer.Down, "down; in the last row the prompt after", "down"),
		s(composer.Backspace, "delete the character before", "backspace", "ctrl+h", "shift+backspace"),
		s(composer.Delete, "delete the character after", "delete"),
		s(composer.KillWord, "cut the word before", "ctrl+w", "alt+backspace"),
		s(composer.KillAhead, "cut the word after", "alt+d"),
		s(composer.KillToEnd, "cut to the end of the line", "ctrl+k"),
		s(composer.KillToHome, "cut to the start of the line", "ctrl+u"),
		s(composer.Yank, "put back what was cut", "ctrl+y"),
		s(composer.YankPop, "put back what was cut before that", "alt+y"),
		s(composer.Undo, "undo", "ctrl+_", "ctrl+/", "alt+z"),
		s(composer.Redo, "redo", "alt+r"),
	}
}

// A Map finds what a chord does.
type Map struct {
	Bindings []Binding
	actions  map[string]Action
	commands map[string]string
}

// Nothing, as a choice, takes a chord's meaning away.
const Nothing = "none"

// NewMap applies a user's choices to the defaults: chord to slash command
// ("ctrl+p": "/model"), to the name of an action ("f2": "fold"), or to
// [Nothing]. A choice takes the chord from what it did before; other keys of an
// action stay. What cannot be applied is returned as one sentence each; the rest
// holds.
func NewMap(choices map[string]string) (Map, []string) {
	m := Map{Bindings: Defaults(), actions: map[string]Action{}, commands: map[string]string{}}
	var problems []string
	chosen := map[string]string{} // parsed chord → as written
	for _, written := range slices.Sorted(maps.Keys(choices)) {
		chord, err := Parse(written)
		if err != nil {
			problems = append(problems, fmt.Sprintf("keymap: %v", err))
			continue
		}
		if first, dup := chosen[chord]; dup {
			problems = append(problems, fmt.Sprintf("keymap: %q and %q are the same key; the first holds", first, written))
			continue
		}
		if err := m.choose(chord, strings.TrimSpace(choices[written])); err != nil {
			problems = append(problems, fmt.Sprintf("keymap: %q: %v", written, err))
			continue
		}
		chosen[chord] = written
	}
	problems = append(problems, m.restore()...)
	for _, b := range m.Bindings {
		for _, c := range b.Keys {
			if b.Action != "" {
				m.actions[c] = b.Action
			}
		}
	}
	return m, problems
}

func (m *Map) choose(chord, what string) error {
	at := slices.IndexFunc(m.Bindings, func(b Binding) bool { return b.Action != "" && string(b.Action) == what })
	command := strings.HasPrefix(what, "/") && len(what) > 1
	if at < 0 && !command && what != Nothing {
		return fmt.Errorf("%q is no slash command and no action (/help lists both); %q unbinds a key", what, Nothing)
	}
	for i, b := range m.Bindings {
		m.Bindings[i].Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(c string) bool { return c == chord })
	}
	switch {
	case command:
		m.commands[chord] = what
		m.Bindings = append(m.Bindings, Binding{Keys: []string{chord}, Help: "run " + what})
	case at >= 0:
		m.Bindings[at].Keys = append(m.Bindings[at].Keys, chord)
	}
	return nil
}

// restore gives the actions without which nobody gets on their keys back.
func (m *Map) restore() []string {
	var out []string
	for i, b := range Defaults() {
		if len(m.Bindings[i].Keys) > 0 || (b.Action != Send && b.Action != Interrupt && b.Action != Escape) {
			continue
		}
		for _, c := range b.Keys {
			delete(m.commands, c)
			for j := range m.Bindings {
				m.Bindings[j].Keys = slices.DeleteFunc(m.Bindings[j].Keys, func(k string) bool { return k == c })
			}
		}
		m.Bindings[i].Keys = b.Keys
		out = append(out, fmt.Sprintf("keymap: %s would have no key; it keeps %s", b.Action, strings.Join(b.Keys, ", ")))
	}
	return out
}

// Command is the slash command that a user bound to chord; or empty.
func (m Map) Command(chord string) string { return m.commands[chord] }

// Action is what chord does; empty for nothing.
func (m Map) Action(chord string) Action { return m.actions[chord] }

// First is the first key of an action, to be shown in a hint.
func (m Map) First(a Action) string {
	for _, b := range m.Bindings {
		if b.Action == a && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}

var aliases = map[string]string{"pageup": "pgup", "pagedown": "pgdown", "escape": "esc", "return": "enter", "del": "delete", "option": "alt", "control": "ctrl", "c": "ctrl", "m": "alt"}

// Parse reads a chord as people write it ("Ctrl-PageUp", "alt+x") into the form
// of Key.Chord.
func Parse(s string) (string, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if text == "" {
		return "", fmt.Errorf("an empty key")
	}
	if len([]rune(text)) == 1 {
		return "", fmt.Errorf("%q types a character; bind it with ctrl or alt", s)
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '+' || r == '-' })
	if strings.HasSuffix(text, "+") || strings.HasSuffix(text, "-") {
		parts = append(parts, text[len(text)-1:])
	}
	mods := map[string]bool{}
	name := ""
	for i, p := range parts {
		if a, ok := aliases[p]; ok && (i < len(parts)-1 || len(p) > 1) {
			p = a
		}
		switch {
		case i < len(parts)-1 && (p == "ctrl" || p == "alt" || p == "shift" || p == "super" || p == "meta"):
			mods[p] = true
		case i == len(parts)-1:
			name = p
		default:
			return "", fmt.Errorf("%q: %q is no modifier (ctrl, alt, shift)", s, p)
		}
	}
	if plain[name] == "" && len([]rune(name)) > 1 && !known[name] {
		return "", fmt.Errorf("%q: %q is no key", s, name)
	}
	chord := ""
	for _, mod := range []string{"ctrl", "alt", "shift", "meta", "super"} {
		if mods[mod] {
			chord += mod + "+"
		}
	}
	return chord + name, nil
}

var known = func() map[string]bool {
	m := map[string]bool{"space": true, "insert": true, "begin": true}
	for i := 1; i <= 20; i++ {
		m[fmt.Sprintf("f%d", i)] = true
	}
	return m
}()
