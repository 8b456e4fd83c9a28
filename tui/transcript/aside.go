package transcript

import "github.com/patriceckhart/zot/tui/screen"

// An Aside is an answer that does not belong to the conversation. It grows as
// an answer does and goes with the notes.
type Aside struct {
	t *Transcript
	a *answer
}

// Aside begins the answer to a question that was asked aside.
func (t *Transcript) Aside(question string) *Aside {
	t.Say("", "btw: "+screen.Line(question))
	return &Aside{t: t, a: &answer{note: true}}
}

// Write adds a piece of it. One that was cleared away with the notes stays away.
func (x *Aside) Write(text string) {
	if !x.gone() {
		x.t.write(x.a, x.a.cleaner.Write(text))
	}
}

// End closes it.
func (x *Aside) End() {
	if !x.gone() {
		x.t.finish(x.a)
	}
}

func (x *Aside) gone() bool {
	tail := x.a.tail
	if tail == nil {
		return x.a.done
	}
	if tail.index >= len(x.t.cells) || x.t.cells[tail.index] != tail {
		x.a.done = true
	}
	return x.a.done
}
