package keys

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestPanelsSeeFourteenKeys(t *testing.T) {
	for _, tc := range []struct {
		press       tea.KeyPressMsg
		panel, text string
	}{
		{tea.KeyPressMsg{Code: tea.KeyUp}, "up", ""},
		{tea.KeyPressMsg{Code: tea.KeyDown}, "down", ""},
		{tea.KeyPressMsg{Code: tea.KeyLeft}, "left", ""},
		{tea.KeyPressMsg{Code: tea.KeyRight}, "right", ""},
		{tea.KeyPressMsg{Code: tea.KeyEnter}, "enter", ""},
		{tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}, "enter", ""},
		{tea.KeyPressMsg{Code: tea.KeyEscape}, "esc", ""},
		{tea.KeyPressMsg{Code: tea.KeyTab}, "tab", ""},
		{tea.KeyPressMsg{Code: tea.KeyHome}, "home", ""},
		{tea.KeyPressMsg{Code: tea.KeyFind}, "home", ""},
		{tea.KeyPressMsg{Code: tea.KeyEnd}, "end", ""},
		{tea.KeyPressMsg{Code: tea.KeyPgUp}, "pageup", ""},
		{tea.KeyPressMsg{Code: tea.KeyPgDown}, "pagedown", ""},
		{tea.KeyPressMsg{Code: tea.KeyBackspace}, "backspace", ""},
		{tea.KeyPressMsg{Code: 'h', Mod: tea.ModCtrl}, "backspace", ""},
		{tea.KeyPressMsg{Code: tea.KeyDelete}, "delete", ""},
		{tea.KeyPressMsg{Code: 'x', Text: "x"}, "rune", "x"},
		{tea.KeyPressMsg{Code: 'x', Text: "X", Mod: tea.ModShift}, "rune", "X"},
		{tea.KeyPressMsg{Code: ' ', Text: " "}, "rune", " "},
		{tea.KeyPressMsg{Code: tea.KeyExtended, Text: "👍🏽"}, "rune", "👍🏽"},
		{tea.KeyPressMsg{Code: 'x', Mod: tea.ModCtrl}, "", ""},
		{tea.KeyPressMsg{Code: 'x', Text: "x", Mod: tea.ModAlt}, "", ""},
		{tea.KeyPressMsg{Code: tea.KeyF1}, "", ""},
		{tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, "", ""},
	} {
		if k := Of(tc.press); k.Panel != tc.panel || k.Text != tc.text {
			t.Errorf("%s: panel %q text %q, want %q %q", k.Chord, k.Panel, k.Text, tc.panel, tc.text)
		}
	}
}

func TestDefaultsHaveNoConflicts(t *testing.T) {
	seen := map[string]Action{}
	for _, b := range Defaults() {
		for _, k := range b.Keys {
			if other, dup := seen[k]; dup {
				t.Errorf("%q is bound to %s and %s", k, other, b.Action)
			}
			seen[k] = b.Action
			if c, err := Parse(k); err != nil || c != k {
				t.Errorf("%q parses to %q, %v", k, c, err)
			}
		}
	}
	if _, problems := NewMap(nil); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
}

func TestChoicesAndConflicts(t *testing.T) {
	m, problems := NewMap(map[string]string{
		"Ctrl-PageUp": "fold",
		"ctrl+pgup":   "find",
		"ctrl+g":      "quit",
		"F2":          "/model small",
		"f3":          "nope",
		"x":           "fold",
		"hyper+q":     "fold",
		"ctrl+o":      "none",
		"enter":       "fold",
	})
	for chord, want := range map[string]Action{"ctrl+pgup": Fold, "ctrl+o": "", "ctrl+g": Quit, "ctrl+d": Quit, "f2": "", "enter": Send, "alt+m": PickModel} {
		if got := m.Action(chord); got != want {
			t.Errorf("%s: %q, want %q", chord, got, want)
		}
	}
	if got := m.Command("f2"); got != "/model small" {
		t.Errorf("f2 runs %q", got)
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{`"f3": "nope" is no slash command and no action`, `"Ctrl-PageUp" and "ctrl+pgup" are the same key`, `"x" types a character`, `"hyper" is no modifier`, "send would have no key; it keeps enter"} {
		if !strings.Contains(all, want) {
			t.Errorf("problems lack %q:\n%s", want, all)
		}
	}
}

func TestPanelPaste(t *testing.T) {
	if got := PanelPaste("a\r\nb\tc"); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := PanelPaste(strings.Repeat("宽", 40000)); len(got) > maxPaste {
		t.Errorf("%d bytes", len(got))
	}
}
