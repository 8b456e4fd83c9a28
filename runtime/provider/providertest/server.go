package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A Wire is a vendor's API.
type Wire string

// The wires that the server speaks, each at its own path.
const (
	Chat      Wire = "chat"      // OpenAI: POST /v1/chat/completions
	Responses Wire = "responses" // OpenAI: POST /v1/responses
	Messages  Wire = "messages"  // Anthropic: POST /v1/messages
)

// A Server answers from a script. Create one with [New] in a Go test, or with
// [Start] elsewhere.
type Server struct {
	script *Script
	ln     net.Listener
	http   *http.Server
	quit   chan struct{} // closed by Close; releases hanging answers
	done   chan struct{} // closed when serving ended

	mu       sync.Mutex
	next     int // turn
	requests []Request
	failures []string
	closed   bool
}

// New starts a server for the script and closes it when the test ends; what
// the server finds wrong fails the test.
func New(t testing.TB, script string) *Server {
	t.Helper()
	s, err := Parse("script", script)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := Start(s, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		srv.Close()
		if err := srv.Check(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return srv
}

// Start serves the script at addr, "127.0.0.1:0" where empty. The caller
// closes the server and asks Check what went wrong.
func Start(script *Script, addr string) (*Server, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s := &Server{script: script, ln: ln, quit: make(chan struct{}), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.serve(Chat))
	mux.HandleFunc("POST /v1/responses", s.serve(Responses))
	mux.HandleFunc("POST /v1/messages", s.serve(Messages))
	mux.HandleFunc("/", s.unknown)
	s.http = &http.Server{Handler: mux}
	go func() {
		defer close(s.done)
		s.http.Serve(ln)
	}()
	return s, nil
}

// URL is the base URL to give a client: "http://127.0.0.1:PORT/v1".
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() + "/v1" }

// Close stops the server and drops what hangs. It may be called twice.
func (s *Server) Close() {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if !was {
		close(s.quit)
		s.http.Close()
	}
	<-s.done
}

// Check says what was wrong so far: what was asked and should not have been,
// and turns that were never asked for.
func (s *Server) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.failures {
		errs = append(errs, errors.New(f))
	}
	for _, t := range s.script.Turns[min(s.next, len(s.script.Turns)):] {
		if !t.Always {
			errs = append(errs, fmt.Errorf("%s:%d: this turn was never asked for", s.script.Name, t.Line))
		}
	}
	return errors.Join(errs...)
}

// Requests are the requests for answers so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Log writes the requests so far as text, to be compared with a file. What a
// request repeats of the one before it is counted and not written again.
func (s *Server) Log() string {
	var b strings.Builder
	var before []Message
	for i, r := range s.Requests() {
		fmt.Fprintf(&b, "request %d\n", i+1)
		same := common(before, r.Messages)
		before = r.Messages
		if same > 0 {
			r.Messages = r.Messages[same:]
		}
		text := r.String()
		if same > 0 {
			head, tail, _ := cutHead(text)
			text = head + fmt.Sprintf("... %d messages as before\n", same) + tail
		}
		b.WriteString(text)
	}
	return b.String()
}

// cutHead parts the lines about the request from those about its messages.
func cutHead(text string) (head, tail string, ok bool) {
	for _, line := range strings.SplitAfter(text, "\n") {
		w, _, _ := strings.Cut(line, " ")
		if w != "model" && w != "tools" && w != "system" {
			return head, text[len(head):], true
		}
		head += line
	}
	return head, "", false
}

func common(a, b []Message) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].String() == b[n].String() {
		n++
	}
	return n
}

func (s *Server) fail(format string, args ...any) string {
	msg := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, msg)
	return msg
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, s.fail("model server: nothing is served at %s %s", r.Method, r.URL.Path))
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := []entry{}
	for _, m := range s.script.Models {
		list = append(list, entry{m, "model"})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
}

// refuse answers as OpenAI does when a request is at fault.
func refuse(w http.ResponseWriter, status int, msg string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": msg, "type": "invalid_request_error"}})
}

// serve answers requests on one wire.
func (s *Server) serve(wire Wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		req, err := parseRequest(wire, body)
		req.Wire, req.Path, req.Header, req.Body = wire, r.URL.Path, r.Header, body
		if err != nil {
			refuse(w, http.StatusBadRequest, s.fail("model server: a request that a strict server refuses: %v", err))
			return
		}
		turn, wrong := s.take(req)
		if wrong != "" {
			refuse(w, http.StatusBadRequest, s.fail("%s", wrong))
			return
		}
		s.play(w, r, req, turn)
	}
}

// take records the request and uses up its turn.
func (s *Server) take(req Request) (*Turn, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if s.next >= len(s.script.Turns) {
		return nil, fmt.Sprintf("%s: request %d is one more than the script has turns; it asks:\n%s", s.script.Name, len(s.requests), req)
	}
	turn := s.script.Turns[s.next]
	if !turn.Always {
		s.next++
	}
	for _, e := range turn.Expect {
		if wrong := e.check(req); wrong != "" {
			return nil, fmt.Sprintf("%s:%d: %s", s.script.Name, e.Line, wrong)
		}
	}
	return turn, ""
}
