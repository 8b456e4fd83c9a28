// Package tui is the interactive face of zot.
//
// [Run] opens it. Events of the runtime arrive on a channel and pass the pump
// (pump.go), which merges them to at most twenty batches a second; keys arrive
// from the terminal. Both end in [Model.Update], which changes plain structs and
// then draws one frame:
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
	// Keys are the user's bindings: action to chords.
	Keys map[string][]string
	// Theme is the name of the theme to load, if the runtime has themes.
	Theme string
	// Background is "dark", "light" or "auto" (the default).
	Background string
	// Mouse makes the wheel scroll; the terminal then selects text only with
	// a modifier held.
	Mouse bool
	// ReduceMotion draws no spinner and counts seconds in steps of five.
	ReduceMotion bool
	// Notify says how a long turn that ends unseen is announced: "bell" (the
	// default), "osc9" or "off".
	Notify string
	// HistoryFile keeps what was sent, one JSON string a line; empty for none.
	HistoryFile string
	// Ready is called once, after the first frame was drawn; or nil.
	Ready func()
	// Farewell is printed after the screen was given back: how to resume.
	Farewell func() string
}

// longTurn is how long a turn must take for its end to be announced.
const longTurn = 10 * time.Second
