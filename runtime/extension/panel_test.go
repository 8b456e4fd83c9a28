package extension_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
)

// shown lists what happened to panels and notes, in order.
func shown(r *rig) (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch e := e.(type) {
		case event.ExtPanelOpen:
			all = append(all, fmt.Sprintf("open %s/%s %q %q", e.Extension, e.ID, e.Title, e.Lines))
		case event.ExtPanelRender:
			all = append(all, fmt.Sprintf("draw %s/%s %q", e.Extension, e.ID, e.Lines))
		case event.ExtPanelClose:
			all = append(all, fmt.Sprintf("close %s/%s", e.Extension, e.ID))
		case event.ExtNotify:
			all = append(all, fmt.Sprintf("%s %s: %s", e.Level, e.Extension, e.Message))
		case event.ExtClearNotes:
			all = append(all, "clear "+e.Extension)
		case event.ExtSubmit:
			all = append(all, fmt.Sprintf("submit %s %q", e.Extension, e.Text))
		}
	}
	return all
}

func wantShown(t *testing.T, r *rig, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, shown(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.forget()
}

// A panel that a command opens is there before what follows the answer.
func TestPanelOfACommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "todo")
		r := rigOf(t, extension.Options{}, p)
		p.load(commandGo)
		w := r.command(t.Context(), "go", "")
		q := p.hears("command_invoked")
		// In one write, so that nothing can come in between.
		p.answer(q, `{"type":"command_response","id":"ID","action":"open_panel","open_panel":{"id":"main","lines":["one"]}}`+
			"\n"+`{"type":"panel_render","panel_id":"main","lines":["two"]}`)
		if resp, err := w.result(); err != nil || resp.OpenPanel.ID != "main" {
			t.Errorf("%+v, %v", resp, err)
		}
		wantShown(t, r, `open todo/main "todo" ["one"]`, `draw todo/main ["two"]`)
		if owner, ok := r.PanelOwner("main"); owner != "todo" || !ok {
			t.Errorf("owner %q", owner)
		}

		r.PanelResize("todo", "main", 80, 20)
		if f := p.hears("panel_resize"); f["width"] != 80.0 || f["height"] != 20.0 {
			t.Errorf("%v", f)
		}
		for _, key := range "quick brown" {
			r.PanelKey("todo", "main", "rune", string(key))
		}
		for _, key := range "quick brown" {
			if f := p.hears("panel_key"); f["text"] != string(key) {
				t.Fatalf("%v, want %c", f, key)
			}
		}
		r.PanelClosed("todo", "main")
		p.hears("panel_close")
		// After that it draws on nothing, and hears no keys.
		p.say(`{"type":"panel_render","panel_id":"main","lines":["late"]}`)
		r.PanelKey("todo", "main", "up", "")
		r.PanelClosed("todo", "main")
		p.hearsNothing()
		wantShown(t, r)
	})
}

// There is one panel: opening another closes it and tells its owner. Only the
// owner draws on it, and it may close it.
func TestPanelsChangeHands(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPuppet(t, "a"), newPuppet(t, "b")
		r := rigOf(t, extension.Options{}, a, b)
		a.load()
		b.load()
		a.say(`{"type":"open_panel","panel":{"id":"p","title":"A"}}`)
		b.say(`{"type":"panel_render","panel_id":"p","lines":["mine"]}`, `{"type":"panel_close","panel_id":"p"}`)
		b.say(`{"type":"open_panel","panel":{"id":"p","title":"B"}}`)
		if f := a.hears("panel_close"); f["panel_id"] != "p" {
			t.Errorf("%v", f)
		}
		a.say(`{"type":"panel_close","panel_id":"p"}`)
		b.say(`{"type":"panel_render","panel_id":"p","lines":["mine"]}`)
		b.say(`{"type":"open_panel","panel":{"id":"q"}}`)
		b.hears("panel_close")
		b.say(`{"type":"open_panel","panel":{"id":"q","title":"again"}}`) // its own: no change of hands
		b.say(`{"type":"panel_close","panel_id":"q"}`)
		b.hearsNothing()
		a.hearsNothing()
		wantShown(t, r, `open a/p "A" []`, `close a/p`, `open b/p "B" []`, `draw b/p ["mine"]`,
			`close b/p`, `open b/q "b" []`, `open b/q "again" []`, `close b/q`)
	})
}

// A command that failed, or that answered too late, opens nothing.
func TestPanelsNotOpened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(commandGo)
		const open = `{"type":"command_response","id":"ID","action":"open_panel","open_panel":{"id":"main"}`
		w := r.command(t.Context(), "go", "")
		q := p.hears("command_invoked")
		p.answer(q, open+`,"error":"no"}`)
		p.answer(q, open+`}`)
		w.result()
		wantShown(t, r)
	})
}

// Notes and submissions come through with their owner; blank ones do not.
func TestNotesAndSubmissions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(`{"type":"notify","message":"before ready"}`)
		p.say(`{"type":"notify","level":"error","message":"bad"}`, `{"type":"notify","level":"loud","message":"odd"}`,
			`{"type":"notify","level":"info","message":""}`, `{"type":"clear_notes"}`,
			`{"type":"submit","text":" /clear is text\n"}`, `{"type":"submit","text":" \n\t"}`)
		wantShown(t, r, "info ext: before ready", "error ext: bad", "info ext: odd", "clear ext", `submit ext "/clear is text"`)
	})
}
