// Package keys gives what a terminal reports as a key three names: the chord
// that bindings use ("ctrl+left"), the text that it types, and the name that an
// extension's panel is sent. It also holds the table of bindings.
package keys

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A Key is one key press.
type Key struct {
	// Chord names the key with its modifiers: "a", "ctrl+left", "alt+enter".
	Chord string
	// Text is what the key types; empty for keys that type nothing.
	Text string
	// Panel is one of the fourteen names that panels know, or empty for keys
	// that are the interface's alone.
	Panel string
}

// Of names a key press.
func Of(m tea.KeyPressMsg) Key {
	k := Key{Chord: m.Keystroke()}
	const host = tea.ModCtrl | tea.ModAlt | tea.ModMeta | tea.ModHyper | tea.ModSuper
	if m.Mod&host == 0 {
		k.Text = m.Text
		k.Panel = plain[strings.TrimPrefix(k.Chord, "shift+")]
		if k.Text != "" {
			k.Panel = "rune"
		}
		if strings.HasPrefix(k.Chord, "shift+") && k.Panel == "tab" {
			k.Panel = ""
		}
	} else if name, ok := control[k.Chord]; ok {
		k.Panel = name
	}
	return k
}

var plain = map[string]string{
	"up": "up", "down": "down", "left": "left", "right": "right",
	"enter": "enter", "esc": "esc", "tab": "tab", "backspace": "backspace", "delete": "delete",
	"home": "home", "find": "home", "end": "end", "select": "end", "pgup": "pageup", "pgdown": "pagedown",
}

// control are the control characters that terminals send for plain keys.
var control = map[string]string{"ctrl+h": "backspace", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+i": "tab"}

// maxPaste bounds what a panel is sent of one paste.
const maxPaste = 64 << 10

// PanelPaste is a paste as a panel sees it: one "rune" event, line ends as
// spaces, at most 64 KiB.
func PanelPaste(text string) string {
	text = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text)
	if len(text) > maxPaste {
		text = strings.ToValidUTF8(text[:maxPaste], "")
	}
	return text
}
