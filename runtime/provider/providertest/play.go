package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A voice speaks an answer on one wire.
type voice interface {
	start()
	text(s string)
	think(s string)
	calls(cs []Call)
	// finish ends the answer. reason is the wire-free word (stop, tool_calls,
	// length) or whatever the script says, "none" for no reason; done says
	// whether the stream gets its end mark.
	finish(reason string, u *Usage, done bool)
	fail(status int, code, msg string)
	// whole returns the answer as one JSON document.
	whole(reason string, u *Usage) any
}

// parseRequest reads a request of a wire.
func parseRequest(wire Wire, body []byte) (Request, error) {
	switch wire {
	case Chat:
		return parseChat(body)
	case Messages:
		return parseMessages(body)
	case Responses:
		return parseResponses(body)
	}
	return Request{}, fmt.Errorf("no parser for the wire %q", wire)
}

// newVoice returns the voice of a wire.
func newVoice(wire Wire, re *reply) voice {
	switch wire {
	case Messages:
		return &messagesVoice{re: re}
	case Responses:
		return &responsesVoice{re: re}
	}
	return &chatVoice{re: re}
}

// Usage is the count of tokens that an answer reports.
type Usage struct {
	Input, Output, Cached, Written, Reasoning int
	Cost                                      float64
}

// A reply is the state of one answer being given.
type reply struct {
	w      http.ResponseWriter
	turn   *Turn
	n      int // number of the request, for ids
	voice  voice
	reason string
	done   bool
	usage  *Usage
	opened bool
}

// play answers a request with a turn.
func (s *Server) play(w http.ResponseWriter, r *http.Request, req Request, turn *Turn) {
	s.mu.Lock()
	n := len(s.requests)
	s.mu.Unlock()
	re := &reply{w: w, turn: turn, n: n, done: true, usage: &Usage{Input: 10, Output: 5}}
	re.voice = newVoice(req.Wire, re)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if !req.Stream || re.has("json") {
		re.playWhole()
		return
	}
	steps := turn.Steps
	for i := 0; i < len(steps); i++ {
		if steps[i].Verb == "call" {
			j := i
			for j < len(steps) && steps[j].Verb == "call" {
				j++
			}
			re.open()
			re.voice.calls(re.callsOf(steps[:i], steps[i:j]))
			i = j - 1
			continue
		}
		if over := s.step(re, r, steps[i]); over {
			return
		}
	}
	re.open()
	re.voice.finish(re.finishReason(), re.usage, re.done)
}

func (re *reply) has(quirk string) bool { return slices.Contains(re.turn.Quirks, quirk) }

// open begins the stream, once.
func (re *reply) open() {
	if re.opened {
		return
	}
	re.opened = true
	if re.has("bom") {
		re.write("\ufeff")
	}
	re.voice.start()
}

// callsOf are the calls of some steps, numbered by the request and their place
// in the turn so that ids differ over a whole script.
func (re *reply) callsOf(before, steps []Step) []Call {
	k := 0
	for _, s := range before {
		if s.Verb == "call" {
			k++
		}
	}
	var out []Call
	for _, s := range steps {
		k++
		id := s.Keys["id"]
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", re.n, k)
		}
		if re.has("same-ids") {
			id = "call_same"
		}
		out = append(out, Call{ID: id, Name: s.Name, Args: s.Text})
	}
	return out
}

// step plays one step and reports whether the answer is over with it.
func (s *Server) step(re *reply, r *http.Request, st Step) (over bool) {
	switch st.Verb {
	case "status":
		re.status(st)
		return true
	case "content-type":
		re.w.Header().Set("Content-Type", st.Text)
		return false
	case "finish":
		re.reason = st.Text
		return false
	case "no done":
		re.done = false
		return false
	case "usage":
		re.usage = usageOf(st)
		return false
	case "raw":
		re.write(st.Text)
		re.flush()
		return false
	}
	re.open()
	switch st.Verb {
	case "say":
		for _, piece := range pieces(st.Text) {
			re.voice.text(piece)
		}
	case "repeat":
		for range st.N {
			re.voice.text(st.Text)
		}
	case "think":
		for _, piece := range pieces(st.Text) {
			re.voice.think(piece)
		}
	case "comment":
		re.write(": " + st.Text + re.eol() + re.eol())
		re.flush()
	case "pause":
		d, _ := time.ParseDuration(st.Text)
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	case "error":
		status, _ := strconv.Atoi(st.Keys["status"])
		re.voice.fail(status, st.Keys["code"], st.Text)
		return true
	case "end":
		return true
	case "cut":
		re.flush()
		panic(http.ErrAbortHandler)
	case "hang":
		re.flush()
		select {
		case <-r.Context().Done():
		case <-s.quit:
		}
		return true
	}
	return false
}

func usageOf(st Step) *Usage {
	if st.Text == "none" {
		return nil
	}
	n := func(key string) int { v, _ := strconv.Atoi(st.Keys[key]); return v }
	cost, _ := strconv.ParseFloat(st.Keys["cost"], 64)
	return &Usage{n("input"), n("output"), n("cached"), n("written"), n("reasoning"), cost}
}

func (re *reply) finishReason() string {
	if re.reason != "" {
		return re.reason
	}
	if slices.ContainsFunc(re.turn.Steps, func(s Step) bool { return s.Verb == "call" }) {
		return "tool_calls"
	}
	return "stop"
}

// playWhole answers with one JSON document.
func (re *reply) playWhole() {
	for _, st := range re.turn.Steps {
		switch st.Verb {
		case "status":
			re.status(st)
			return
		case "usage":
			re.usage = usageOf(st)
		case "finish":
			re.reason = st.Text
		}
	}
	re.w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(re.w).Encode(re.voice.whole(re.finishReason(), re.usage))
}

// said joins the texts of the turn's steps with one of the given verbs.
func (re *reply) said(verbs ...string) string {
	var b strings.Builder
	for _, st := range re.turn.Steps {
		if slices.Contains(verbs, st.Verb) {
			b.WriteString(strings.Repeat(st.Text, max(1, st.N)))
		}
	}
	return b.String()
}

func (re *reply) allCalls() []Call {
	var steps []Step
	for _, st := range re.turn.Steps {
		if st.Verb == "call" {
			steps = append(steps, st)
		}
	}
	return re.callsOf(nil, steps)
}

// pieces cuts prose in front of each word.
func pieces(s string) []string {
	var out []string
	start := 0
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' {
			out = append(out, s[start:i])
			start = i
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// fragments cuts arguments in three.
func fragments(s string) []string {
	if len(s) < 3 {
		return []string{s}
	}
	a, b := len(s)/3, 2*len(s)/3
	return []string{s[:a], s[a:b], s[b:]}
}

func (re *reply) eol() string {
	if re.has("crlf") {
		return "\r\n"
	}
	return "\n"
}

// event puts one event on the wire, and noise around it where asked for.
func (re *reply) event(name string, data any) {
	body, ok := data.(string)
	if !ok {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		body = string(raw)
	}
	eol := re.eol()
	if re.has("noise") {
		re.write(": keep-alive" + eol + eol + "event: ping" + eol + eol + "data:" + eol + eol)
	}
	if name != "" {
		re.write("event: " + name + eol)
	}
	re.write("data: " + body + eol + eol)
	re.flush()
}

func (re *reply) write(s string) { re.w.Write([]byte(s)) }

func (re *reply) flush() { http.NewResponseController(re.w).Flush() }
