// Package tui is the interactive face of zot.
//
// [Run] opens it. Events of the runtime arrive on a channel and pass the pump
// (pump.go), which merges them to at most fifteen batches a second; keys arrive
// from the terminal. Both end in [Model.Update], which changes plain structs and
// then draws one frame, which package paint writes:
//
//	runtime ──events──▶ pump ──batches──▶ Model.Update ──▶ frame ──▶ terminal
//	   ▲                                      │
//	   └── Runtime methods, never blocking ◀──┘
//
// The parts of the screen are packages of their own, without goroutines and
// without a clock: transcript (what was said), composer (what is written),
// dialog and panel (what is docked between them), markdown and screen (text to
// rows), style (names to colours), keys (bindings). Whatever takes time runs as
// a tea.Cmd and comes back as a message.
//
// A second, line-oriented surface for screen readers and plain terminals is in
// package plain.
package tui

import (
	"io"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui/transcript"
)

// Options say what to run on. Runtime is required; the zero value of everything
// else is usable.
type Options struct {
	Runtime Runtime
	// Events is what happens, in order. The interface reads it to the end; a
	// closed channel ends nothing.
	Events <-chan event.Event
	// Asks are questions. Each is answered exactly once, whatever happens to
	// the interface.
	Asks <-chan Ask

	Input  io.Reader // a terminal; standard input when nil
	Output io.Writer // a terminal; standard output when nil
	Env    []string  // the process's own when nil

	// Prefill is put into the prompt at the start, and not sent.
	Prefill string
	// Version is shown at the start.
	Version string
	// Keys are the user's bindings, see [keys.NewMap].
	Keys map[string]string
	// Theme is "auto" (also the empty string), "dark" or "light" for the
	// built-in theme, or the name of a theme that the runtime can load.
	Theme string
	// Mouse makes the wheel scroll; the terminal then selects text only with
	// a modifier held.
	Mouse bool
	// ReduceMotion draws no spinner and counts seconds in steps of five.
	ReduceMotion bool
	// Notify says when the end of long work is announced: "unfocused" (also
	// the empty string), "always" or "off".
	Notify string
	// Transcript says how the conversation is drawn.
	Transcript transcript.Options
	// MainScreen draws on the terminal's first screen, where the last frame
	// stays when zot has ended.
	MainScreen bool
	// Images says whether pictures can be shown: "auto" (also the empty
	// string) goes by the terminal, "on" uses kitty's protocol where nothing
	// else is known, "off" never does.
	Images string
	// AllFiles offers files that .gitignore names, too.
	AllFiles bool
	// HistorySize is how many prompts are remembered; 0 means 500, below 0 none.
	HistorySize int
	// HistoryFile keeps what was sent, one JSON string a line; empty for none.
	HistoryFile string
	// Ready is called once, after the first frame was drawn; or nil.
	Ready func()
	// Farewell is printed after the screen was given back: how to resume.
	Farewell func() string
}

// longTurn is how long a turn must take for its end to be announced.
const longTurn = 10 * time.Second
