package rpc

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

// ErrAuth is returned where the client did not show the token.
var ErrAuth = errors.New("the client did not authenticate")

// hello opens the conversation where a token is wanted, and tells the client
// whom it talks to. The response comes before all events of a conversation
// that it opens.
func (s *server) hello(c rpcproto.Command) error {
	if s.opts.Token != "" && !same(c.Token, s.opts.Token) {
		s.fail(c, errors.New("auth failed: wrong token"))
		return ErrAuth
	}
	s.open = true
	if s.opts.Asker != nil && slices.Contains(c.Capabilities, rpcproto.CapConfirm) {
		s.opts.Asker.enable()
	}
	data := rpcproto.HelloData{ProtocolVersion: rpcproto.Version, Version: s.opts.Version}
	data.Provider, data.Model, _ = s.model()
	s.succeed(c, data)
	s.begin()
	return nil
}

// refuse answers a first line that is no hello although a token is wanted.
func (s *server) refuse(c rpcproto.Command) error {
	s.fail(c, errors.New("auth required: the first command must be hello with the token"))
	return ErrAuth
}

// same compares in a time that tells nothing of where, or in what length, the
// two differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// model names the model in use, or the one that would be if it could be
// connected to.
func (s *server) model() (provider, id, reasoning string) {
	if conn, err := s.opts.Host.Connection(); err == nil {
		return conn.Provider, conn.ID, conn.Reasoning
	}
	if s.opts.Chosen != nil {
		provider, id = s.opts.Chosen()
	}
	return provider, id, ""
}
