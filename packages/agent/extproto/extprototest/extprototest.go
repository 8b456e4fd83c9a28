// Package extprototest reads the golden conversations in
// packages/agent/extproto/testdata/frames, by which both ends of the extension
// protocol are tested. The README beside them describes the format.
package extprototest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Conversation is one golden file.
type Conversation struct {
	Name  string // of the file, without its ending
	About string
	SDK   bool // the Go SDK can play the extension's part
	Steps []Step
}

// A Step is one line of a conversation: a Frame, a Raw line, a Pause, an
// Outcome or a NewConnection.
type Step struct {
	Line int    // in the file, from 1
	From string // "ext" or "host", for frames and raw lines

	Frame json.RawMessage // the frame, or nil
	Raw   *string         // the line as it is written; Frame is then what it amounts to, or nil

	Extra       bool   // some fields mean nothing and are lost
	Unknown     bool   // the frame is of no known type
	Invalid     string // why the schema refuses the frame, or empty
	Undecodable bool   // a field has the wrong JSON type

	Pause         time.Duration
	Outcome       *Outcome
	NewConnection bool
}

// FromHost reports whether zot speaks.
func (s Step) FromHost() bool { return s.From == "host" }

// Type is the type of the frame; empty where there is none.
func (s Step) Type() string {
	var head struct {
		Type string `json:"type"`
	}
	json.Unmarshal(s.Frame, &head)
	return head.Type
}

// An Outcome is what zot makes of the answer to the request ID.
type Outcome struct {
	ID     string          `json:"id"`
	Result string          `json:"result"`
	Value  json.RawMessage `json:"value"`
}

// Text is the value where that is a string, else empty.
func (o Outcome) Text() string {
	var s string
	json.Unmarshal(o.Value, &s)
	return s
}

// Load reads all conversations of a folder, sorted by name.
func Load(t testing.TB, dir string) []Conversation {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no conversations in %s (%v)", dir, err)
	}
	var all []Conversation
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse(data)
		if err != nil {
			t.Fatalf("%s:%v", path, err)
		}
		c.Name = strings.TrimSuffix(filepath.Base(path), ".jsonl")
		all = append(all, c)
	}
	return all
}

// line is a Step as the file spells it.
type line struct {
	About       string          `json:"about"`
	SDK         *bool           `json:"sdk"`
	From        string          `json:"from"`
	Frame       json.RawMessage `json:"frame"`
	Raw         *string         `json:"raw"`
	Is          json.RawMessage `json:"is"`
	Extra       bool            `json:"extra"`
	Unknown     bool            `json:"unknown"`
	Invalid     string          `json:"invalid"`
	Undecodable bool            `json:"undecodable"`
	Pause       string          `json:"pause"`
	Outcome     *Outcome        `json:"outcome"`
	Connection  string          `json:"connection"`
}

func parse(data []byte) (Conversation, error) {
	c := Conversation{SDK: true}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		var l line
		if err := d.Decode(&l); err == io.EOF {
			return c, nil
		} else if err != nil {
			return c, fmt.Errorf("%d: %w", n, err)
		}
		if n == 1 {
			if l.About == "" {
				return c, fmt.Errorf("%d: the first line has no \"about\"", n)
			}
			c.About, c.SDK = l.About, l.SDK == nil || *l.SDK
			continue
		}
		s, err := l.step()
		if err != nil {
			return c, fmt.Errorf("%d: %w", n, err)
		}
		s.Line = n
		c.Steps = append(c.Steps, s)
	}
}

func (l line) step() (Step, error) {
	s := Step{From: l.From, Frame: l.Frame, Raw: l.Raw, Extra: l.Extra, Unknown: l.Unknown, Invalid: l.Invalid,
		Undecodable: l.Undecodable, Outcome: l.Outcome, NewConnection: l.Connection == "new"}
	if l.Is != nil {
		s.Frame = l.Is
	}
	if l.Pause != "" {
		pause, err := time.ParseDuration(l.Pause)
		if err != nil {
			return s, err
		}
		s.Pause = pause
	}
	speaks := l.Frame != nil || l.Raw != nil
	kinds := 0
	for _, is := range []bool{speaks, s.Pause > 0, s.Outcome != nil, s.NewConnection} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return s, fmt.Errorf("a line is a frame, a raw line, a pause, an outcome or a new connection, and only one of them")
	case speaks && l.From != "ext" && l.From != "host":
		return s, fmt.Errorf("from is %q and not \"ext\" or \"host\"", l.From)
	}
	return s, nil
}
