package tuitest

import (
	"reflect"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/runtime/event"
)

var codes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
}

// Key makes the message of a key from its chord.
func Key(chord string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	name := chord
	for _, mod := range []struct {
		name string
		mod  tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, mod.name); ok {
			name, k.Mod = rest, k.Mod|mod.mod
		}
	}
	if code, ok := codes[name]; ok {
		k.Code = code
		return k
	}
	runes := []rune(name)
	k.Code = runes[0]
	if len(runes) > 1 {
		k.Code = tea.KeyExtended
	}
	if k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		k.Text = name
	}
	return k
}

func asEvent(v any) (event.Event, bool) {
	e, ok := v.(event.Event)
	return e, ok
}

// stringOf returns msg as a string if it is of the same type as like, which is
// a string by another name.
func stringOf(msg, like any) (string, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() == reflect.String && v.Type() == reflect.TypeOf(like) {
		return v.String(), true
	}
	return "", false
}
