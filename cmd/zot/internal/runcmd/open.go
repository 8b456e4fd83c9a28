package runcmd

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
)

// A Session is a session without a face, for commands that drive one
// themselves.
type Session struct{ s *run }

// ParseFlags reads the flags of `zot` from words, as the command line does.
func ParseFlags(words ...string) (*Flags, error) {
	f := &Flags{}
	set := pflag.NewFlagSet("zot", pflag.ContinueOnError)
	f.Bind(set)
	return f, set.Parse(words)
}

// Open assembles a session from flags; it does not start it. Close it.
func Open(f *Flags, s *iostreams.Streams) (*Session, error) {
	a, err := assemble(f, s, face{})
	if err != nil {
		return nil, err
	}
	return &Session{a}, nil
}

// Host is the session's host.
func (s *Session) Host() *host.Host { return s.s.host }

// Start tells watch of everything from now on and starts the extensions.
func (s *Session) Start(watch func(event.Event)) {
	s.s.host.Subscribe(watch)
	s.s.announce()
	s.s.host.Start()
}

// StartJSON writes everything from now on as JSON lines, and starts the
// extensions.
func (s *Session) StartJSON() { s.Start((&jsonWriter{w: s.s.streams.Out}).handle) }

// Close ends the session.
func (s *Session) Close() { s.s.close(context.Background()) }
