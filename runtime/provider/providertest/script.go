// Package providertest is the model server of the tests: a real HTTP server
// that speaks the vendors' wires, answers from a script, is strict about what
// it is asked, and misbehaves on demand.
//
//	srv := providertest.New(t, `
//	turn
//	  expect prompt contains "clean up"
//	  say I will look first.
//	  call bash {"command":"ls"}
//	turn
//	  expect result contains "a.txt"
//	  say Done.
//	`)
//	client := openai.New(openai.Options{Provider: "fake", BaseURL: srv.URL()})
//
// Each request uses up one turn. A request for which no turn is left, one that
// does not meet its turn's expectations, one that a real server would refuse,
// and a turn that was never asked for fail the test.
//
// # The script
//
// A script is lines; blank ones and those that begin with # mean nothing, and
// neither does indentation. A text may be put in double quotes, with Go's
// escapes.
//
//	models NAME...               what /v1/models lists; "fake" without it
//	turn [always]                begins a turn; an "always" turn answers every request from here on
//
//	expect prompt WHAT           the text of the last user message
//	expect result WHAT           the texts of the tool results behind the last answer
//	expect system WHAT           the system prompt
//	expect model WHAT
//	expect reasoning WHAT        the level of reasoning asked for, in the wire's word
//	expect transcript WHAT       the whole request, as Request.String writes it
//	expect header NAME WHAT
//	  where WHAT is: is TEXT, contains TEXT, lacks TEXT, or matches REGEXP
//	expect tool NAME...          these tools are offered
//	expect no tool NAME...       these are not
//	expect images N              so many images anywhere in the request
//
//	say TEXT                     prose, a word at a time
//	think TEXT                   reasoning
//	call [id=ID] NAME ARGUMENTS  a tool call; the arguments are sent as they stand
//	repeat N TEXT                the same piece of prose N times
//	usage none | KEY=N...        keys: input, output, cached, written, reasoning, cost
//	finish REASON | none         the finish reason; without it the right one
//	no done                      leave out what ends the stream
//
//	status CODE [KEY=VALUE]... TEXT
//	                             refuse; keys: retry-after, retry-after-ms, retry-at (a duration from
//	                             now, sent as a date), shape (openai, anthropic, detail, google, html,
//	                             plain, empty), code, type, param
//	error [status=N] TEXT        an error event in the stream
//	cut                          drop the connection here
//	end                          end the stream here, cleanly and too early
//	hang                         say nothing more until the client goes
//	pause DURATION
//	comment TEXT                 an event-stream comment
//	raw TEXT                     put this on the wire
//	content-type TEXT
//	quirk NAME...                how this turn departs from the wire; see Quirks
package providertest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Script is what a server answers.
type Script struct {
	Name   string // names the script in errors; a file's path
	Models []string
	Turns  []*Turn
}

// A Turn answers one request.
type Turn struct {
	Line   int
	Always bool
	Expect []Expectation
	Steps  []Step
	Quirks []string
}

// Quirks are the words of a quirk line and what each does.
var Quirks = map[string]string{
	"no-index":     "calls carry no index",
	"one-index":    "every call has index 0",
	"minus-index":  "every call has index -1",
	"whole-calls":  "a call comes in one piece",
	"interleave":   "the pieces of consecutive calls alternate",
	"no-ids":       "calls carry no id",
	"same-ids":     "every call has the same id",
	"fragment-ids": "every piece of a call has an id of its own",
	"object-args":  "arguments are an object, not a string",
	"changing-id":  "the id of the answer changes from event to event",
	"nulls":        "fields are null or empty where they may be missing",
	"error-null":   `every event has "error": null`,
	"crlf":         "lines end with CR LF",
	"bom":          "the stream begins with a byte order mark",
	"noise":        "comments, empty data and nameless blocks stand between the events",
	"json":         "the answer comes whole, as JSON, whatever was asked for",
	"reasoning":    `reasoning comes as "reasoning" and not as "reasoning_content"`,
	"parts":        "content comes as a list of parts",
}

// An Expectation is something that a turn demands of its request.
type Expectation struct {
	Line    int
	Subject string // prompt, result, system, model, transcript, header, tool, no tool, images
	Name    string // of the header
	Verb    string // is, contains, lacks, matches
	Text    string
	Names   []string // of the tools
}

// A Step is a piece of an answer.
type Step struct {
	Line int
	Verb string
	Text string            // of say, think, status, error, comment, raw, …
	Name string            // of a call
	N    int               // of repeat, status
	Keys map[string]string // key=value words
}

// Load reads a script from a file.
func Load(file string) (*Script, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading model script: %w", err)
	}
	return Parse(file, string(data))
}

// Parse reads a script. name stands in errors before the line.
func Parse(name, text string) (*Script, error) {
	p := parser{script: &Script{Name: name}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.parse(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if p.script.Models == nil {
		p.script.Models = []string{"fake"}
	}
	for i, t := range p.script.Turns {
		if t.Always && i < len(p.script.Turns)-1 {
			return nil, fmt.Errorf("%s:%d: only the last turn can be \"turn always\"", name, t.Line)
		}
	}
	return p.script, nil
}

type parser struct {
	script *Script
	turn   *Turn
}

func (p *parser) parse(n int, line string) error {
	verb, rest := word(line)
	switch verb {
	case "models":
		p.script.Models = strings.Fields(rest)
		return nil
	case "turn":
		if rest != "" && rest != "always" {
			return fmt.Errorf("turn takes nothing or \"always\", not %q", rest)
		}
		p.turn = &Turn{Line: n, Always: rest == "always"}
		p.script.Turns = append(p.script.Turns, p.turn)
		return nil
	}
	if p.turn == nil {
		return fmt.Errorf("%q stands before the first \"turn\"", verb)
	}
	switch verb {
	case "expect":
		return p.expect(n, rest)
	case "quirk":
		return p.quirk(rest)
	}
	s, err := parseStep(verb, rest)
	s.Line = n
	p.turn.Steps = append(p.turn.Steps, s)
	return err
}

func (p *parser) quirk(rest string) error {
	for _, q := range strings.Fields(rest) {
		if _, ok := Quirks[q]; !ok {
			return fmt.Errorf("there is no quirk %q", q)
		}
		p.turn.Quirks = append(p.turn.Quirks, q)
	}
	return nil
}

func (p *parser) expect(n int, rest string) error {
	e := Expectation{Line: n}
	e.Subject, rest = word(rest)
	switch e.Subject {
	case "no":
		var tool string
		if tool, rest = word(rest); tool != "tool" {
			return fmt.Errorf("expect no takes \"tool NAME\", not %q", tool)
		}
		e.Subject, e.Names = "no tool", strings.Fields(rest)
	case "tool":
		e.Names = strings.Fields(rest)
	case "images":
		if _, err := strconv.Atoi(rest); err != nil {
			return fmt.Errorf("expect images takes a number, not %q", rest)
		}
		e.Text = rest
	case "header":
		e.Name, rest = word(rest)
		fallthrough
	case "prompt", "result", "system", "model", "reasoning", "transcript":
		e.Verb, rest = word(rest)
		if !slices.Contains([]string{"is", "contains", "lacks", "matches"}, e.Verb) {
			return fmt.Errorf("expect %s takes is, contains, lacks or matches, not %q", e.Subject, e.Verb)
		}
		var err error
		if e.Text, err = unquote(rest); err != nil {
			return err
		}
		if _, err := regexp.Compile(e.Text); e.Verb == "matches" && err != nil {
			return err
		}
	default:
		return fmt.Errorf("nothing is known to expect of %q", e.Subject)
	}
	p.turn.Expect = append(p.turn.Expect, e)
	return nil
}

func parseStep(verb, rest string) (s Step, err error) {
	s = Step{Verb: verb}
	switch verb {
	case "say", "think", "comment", "raw", "content-type", "finish":
		s.Text, err = unquote(rest)
	case "cut", "end", "hang":
		if rest != "" {
			err = fmt.Errorf("%s takes nothing, not %q", verb, rest)
		}
	case "no":
		s.Verb = "no " + rest
		if rest != "done" {
			err = fmt.Errorf("no takes \"done\", not %q", rest)
		}
	case "call":
		s.Keys, rest = keys(rest, "id")
		s.Name, s.Text = word(rest)
		if s.Name == "" {
			err = fmt.Errorf("call takes a tool's name and arguments")
		}
	case "repeat":
		s, err = counted(verb, rest)
	case "status":
		if s, err = counted(verb, rest); err == nil {
			s.Keys, rest = keys(s.Text, "retry-after", "retry-after-ms", "retry-at", "shape", "code", "type", "param")
			s.Text, err = unquote(rest)
		}
	case "error":
		s.Keys, rest = keys(rest, "status", "code")
		s.Text, err = unquote(rest)
	case "pause":
		_, err = time.ParseDuration(rest)
		s.Text = rest
	case "usage":
		s.Text = rest
		s.Keys, rest = keys(rest, "input", "output", "cached", "written", "reasoning", "cost")
		if rest != "" && rest != "none" {
			err = fmt.Errorf("usage takes none, or input=N output=N cached=N written=N reasoning=N cost=N, not %q", rest)
		}
	default:
		err = fmt.Errorf("there is no step %q", verb)
	}
	return s, err
}

// counted parses "N TEXT".
func counted(verb, rest string) (Step, error) {
	number, rest := word(rest)
	n, err := strconv.Atoi(number)
	if err != nil {
		return Step{}, fmt.Errorf("%s takes a number first, not %q", verb, number)
	}
	s, err := unquote(rest)
	return Step{Verb: verb, N: n, Text: s}, err
}

// word cuts the first word off.
func word(s string) (first, rest string) {
	first, rest, _ = strings.Cut(s, " ")
	return first, strings.TrimSpace(rest)
}

// keys takes the leading key=value words off whose keys are known.
func keys(s string, known ...string) (map[string]string, string) {
	got := make(map[string]string)
	for {
		w, rest := word(s)
		k, v, ok := strings.Cut(w, "=")
		if !ok || !slices.Contains(known, k) {
			return got, s
		}
		got[k], s = v, rest
	}
}

// unquote reads the rest of a line: as it stands, or quoted.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	unquoted, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a quoted text", s)
	}
	return unquoted, nil
}
