package extension

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/transports"
)

const (
	// lull is how long the reader leaves the stream alone after the last answer
	// that was waited for, and by how much it may be late for what comes then.
	lull = 2 * time.Millisecond

	// leadMost and leadLeast bound how long one who asked reads by himself, and
	// with it how late he learns that he is to wait no more.
	leadMost, leadLeast = 4 * time.Millisecond, 2 * time.Millisecond
)

// A stream is the reading side of a connection. Who has the turn reads it, and
// mostly that is the peer's reader, which takes whatever comes. But an answer
// that comes at once is best read by the one who waits for it: waking him costs
// several times what the pipes do. So the reader gives up the turn for a moment
// after an answer, and one who asks meanwhile takes it and reads by himself. He
// keeps to answers; anything else he hands to the reader, with the turn.
type stream struct {
	conn  transports.Conn
	timed transports.TimedReader // nil where the transport has none

	taken atomic.Bool    // somebody has the turn
	led   atomic.Bool    // somebody took it since the reader looked last
	back  chan something // gives the turn to the reader, which rests meanwhile

	// Of who has the turn.
	calm  bool      // an answer was handed out, and nobody waits for another
	alone bool      // the system's pipes have no deadlines
	until time.Time // the deadline of who reads by himself
}

// something is what a read came to; nothing at all is none of both.
type something struct {
	line []byte
	err  error
}

func newStream(conn transports.Conn) *stream {
	timed, _ := conn.(transports.TimedReader)
	s := &stream{conn: conn, timed: timed, back: make(chan something, 1)}
	s.taken.Store(true) // the reader has it first
	return s
}

// read is the peer's reader: it handles frames until the stream ends, and says
// why it did.
func (p *peer) read() error {
	for {
		got := p.next()
		if got.err != nil {
			return got.err
		}
		if got.line == nil {
			continue
		}
		if err := p.receive(got.line); err != nil {
			return err
		}
	}
}

// next is what the reader reads, or is handed when it had given up the turn.
func (p *peer) next() something {
	s := p.stream
	rest := s.calm && !s.alone && s.timed != nil
	s.calm = false
	if rest && p.giveUp() {
		if got, handed := s.rest(); handed {
			return got
		}
	}
	line, err := s.conn.ReadFrame()
	return something{line, err}
}

// giveUp gives up the turn, unless somebody waits by now who found it taken.
func (p *peer) giveUp() bool {
	s := p.stream
	s.taken.Store(false)
	return p.pend.idle() || !s.taken.CompareAndSwap(false, true)
}

// rest returns with the turn: with what it was handed, or after a lull.
func (s *stream) rest() (got something, handed bool) {
	timer := time.NewTimer(lull)
	defer timer.Stop()
	for {
		select {
		case got := <-s.back:
			return got, true
		case <-timer.C:
		}
		if !s.led.Swap(false) && s.taken.CompareAndSwap(false, true) {
			return something{}, false
		}
		timer.Reset(lull)
	}
}

// lead reads, if it is nobody's turn, until the answer is in ch, or something
// comes that is not to be handled here, or it has taken too long; the reader
// goes on then.
func (p *peer) lead(ch <-chan answer) {
	s := p.stream
	if s.timed == nil || !p.isSettled() || !s.taken.CompareAndSwap(false, true) {
		return
	}
	s.led.Store(true)
	// One deadline serves many answers: to set one costs more than to miss one.
	if now := time.Now(); s.until.Sub(now) < leadLeast {
		s.until = now.Add(leadMost)
	}
	for len(ch) == 0 {
		got := s.readByDeadline()
		if got.line == nil || !p.handOut(got.line) {
			s.back <- got
			return
		}
	}
	if !p.giveUp() {
		s.back <- something{}
	}
}

func (s *stream) readByDeadline() something {
	line, err := s.timed.ReadFrameBy(s.until)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		s.alone = true
		return something{}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return something{}
	}
	return something{line, err}
}

// handOut gives an answer to who waits for it. It reports whether the line was
// one, and leaves alone what can do more than to answer.
func (p *peer) handOut(line []byte) bool {
	head, err := extproto.Peek(line)
	if err != nil || head.Type != "tool_result" && head.Type != "event_intercept_response" {
		return false
	}
	frame, err := extproto.DecodeFromExtension(line)
	if err != nil {
		return false
	}
	w := p.pend.take(head.ID, head.Type)
	if w == nil {
		return false
	}
	p.outbox().read(w.offset)
	w.ch <- answer{frame: frame}
	return true
}

func (p *peer) isSettled() bool {
	select {
	case <-p.settled:
		return true
	default:
		return false
	}
}
