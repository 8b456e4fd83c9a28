package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxRequest bounds a request, in bytes.
const maxRequest = 32 << 20

// Options are the settings of a server. The zero value listens at a free port
// of 127.0.0.1 and answers as fast as it can.
type Options struct {
	Addr  string        // "127.0.0.1:0" where empty
	Delay time.Duration // between two words of an answer, so that a person can watch
}

// A Server serves the scripted model.
type Server struct {
	ln   net.Listener
	http *http.Server
	done chan struct{} // closed when serving ended
	opts Options
}

// Start serves until Close.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if host, _, err := net.SplitHostPort(o.Addr); err != nil || host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("starting the demo model: %q is no loopback address with a port, such as 127.0.0.1:0", o.Addr)
	}
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("starting the demo model: %w", err)
	}
	s := &Server{ln: ln, done: make(chan struct{}), opts: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", models)
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "the demo model serves /v1/models and /v1/chat/completions, not "+r.URL.Path)
	})
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		s.http.Serve(ln)
	}()
	return s, nil
}

// URL is the base URL: "http://127.0.0.1:PORT/v1".
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() + "/v1" }

// Close stops the server and drops the answers in progress.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

func models(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{
		{"id": Model, "object": "model", "owned_by": "zot", "context_length": 32768},
	}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, msg string) {
	writeJSON(w, status, object{"error": object{"message": msg, "type": "invalid_request_error"}})
}

// complete answers one request.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is longer than %d bytes", maxRequest))
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, "the request is not JSON of a chat completion: "+err.Error())
		return
	}
	a := answer{reply: next(req.conversation()), model: req.Model, in: len(body)}
	if !req.Stream {
		writeJSON(w, http.StatusOK, a.whole())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	io.WriteString(w, ": scripted demo\n\n")
	for _, event := range a.events() {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", event); err != nil {
			return
		}
		flush.Flush()
		if !pause(r.Context(), s.opts.Delay) {
			return
		}
	}
}

// pause reports whether it was slept through.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// words cuts text in front of each word.
func words(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexByte(s[1:], ' ')
		if i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i+1])
		s = s[i+1:]
	}
	return out
}
