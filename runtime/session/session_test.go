package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/patriceckhart/zot/runtime/message"
)

var at = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func newStore(t *testing.T) *Store {
	t.Helper()
	st := NewStore(filepath.Join(t.TempDir(), "sessions"))
	st.now = func() time.Time { return at }
	return st
}

func create(t *testing.T, st *Store, cwd string, messages ...message.Message) *Session {
	t.Helper()
	s, err := st.Create(Start{Cwd: cwd, Provider: "p", Model: "m", Version: "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := s.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func closed(t *testing.T, s *Session) string {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.Path()
}

func mustLoad(t *testing.T, st *Store, path string) *Loaded {
	t.Helper()
	l, err := st.Load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func user(text string) message.Message {
	return message.Message{Role: message.User, Content: []message.Block{message.Text{Text: text}}, Time: at}
}

func answer(text string) message.Message {
	return message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: text}}, Time: at}
}

func calling(ids ...string) message.Message {
	m := message.Message{Role: message.Assistant, Time: at}
	for _, id := range ids {
		m.Content = append(m.Content, message.ToolCall{ID: id, Name: "read", Args: json.RawMessage(`{"path":"a"}`)})
	}
	return m
}

func result(id, text string) message.Message {
	return message.Message{Role: message.Tool, Time: at, Content: []message.Block{
		message.ToolResult{CallID: id, Content: []message.Block{message.Text{Text: text}}},
	}}
}

// rich holds a block of every kind.
var rich = []message.Message{
	{Role: message.User, Time: at, Content: []message.Block{message.Text{Text: "look <b>&"}, message.Image{MIMEType: "image/png", Data: []byte{1, 2}}}},
	{Role: message.Assistant, Time: at, Content: []message.Block{
		message.Reasoning{ID: "r1", Summary: "s", Encrypted: "e"},
		message.Text{Text: "", Format: "markdown"},
		message.ToolCall{ID: "c1", Name: "read", Args: json.RawMessage(`{"path":"x"}`)},
		message.ToolCall{ID: "c2", Name: "find", Args: json.RawMessage(`{}`), ArgsRaw: `{"cut`},
	}},
	{Role: message.Tool, Time: at, Content: []message.Block{
		message.ToolResult{CallID: "c1", Content: []message.Block{message.Image{MIMEType: "image/png", Data: bytes.Repeat([]byte("big"), 2000)}}},
		message.ToolResult{CallID: "c2", IsError: true, Extension: "finder", Changes: []string{"guard rewrote"}, Activated: []string{"deep"}, Content: []message.Block{message.Text{Text: strings.Repeat("longé", 12_000)}}},
	}},
}

func TestWhatIsSavedComesBack(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/proj", rich...)
	u := message.Usage{Known: true, Input: 1, Output: 2, Reasoning: 1, CacheRead: 3, CacheWrite: 4, CostUSD: 0.25}
	for _, err := range []error{
		s.AppendUsage(u, u.Add(u)), s.SetModel("p2", "m2", "high"), s.Rename("a title"), s.SetActivated([]string{"deep", "deeper"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Load(s.Path(), LoadOptions{}); err != nil {
		t.Errorf("reading while it is written: %v", err)
	}
	path := closed(t, s)
	l := mustLoad(t, st, path)
	if diff := cmp.Diff(rich, l.Messages); diff != "" {
		t.Errorf("messages (-saved +loaded):\n%s", diff)
	}
	if len(l.Notices) != 0 || l.Usage != u.Add(u) || l.LastTurn != u || !slices.Equal(l.Activated, []string{"deep", "deeper"}) {
		t.Errorf("loaded %+v %+v %v %v", l.Usage, l.LastTurn, l.Activated, l.Notices)
	}
	want := Meta{ID: s.meta.ID, Cwd: "/proj", Provider: "p2", Model: "m2", Reasoning: "high", Started: at, Version: "1.0", Title: "a title"}
	if l.Meta != want {
		t.Errorf("meta: got %+v, want %+v", l.Meta, want)
	}
	info, err := st.Stat(path)
	if err != nil || info.Meta != want || info.Messages != 3 || info.First != "look <b>&" {
		t.Errorf("listing shows %+v, %v", info, err)
	}
}

func TestPublishedLayout(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/tmp", rich...)
	path := closed(t, s)
	// first 8 bytes of the SHA-256 of "/tmp"
	if got := filepath.Base(filepath.Dir(path)); got != "e9671acd244849c5" {
		t.Errorf("folder %s", got)
	}
	if name := filepath.Base(path); !regexp.MustCompile(`^20260504-030201-[0-9a-f]{8}\.jsonl$`).MatchString(name) || !strings.HasPrefix(s.meta.ID, name[16:24]) {
		t.Errorf("file %s of session %s", name, s.meta.ID)
	}
	if runtime.GOOS != "windows" {
		for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Join(filepath.Dir(path), "blobs"): 0o700} {
			if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v", p, info.Mode(), want)
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"type":"message","message":{"role":"user","content":[{"text":"look <b>&"},{"mime_type":"image/png","data":"AQI="}],"time":"2026-05-04T03:02:01Z"}}`,
		`{"id":"c1","name":"read","arguments":{"path":"x"}}`,
		`{"reasoning_id":"r1","summary":"s","encrypted_content":"e"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if len(text) > 12<<10 {
		t.Errorf("the file has %d bytes: large content is in it", len(text))
	}
}

// A file of the public project, with its block shapes and an older meta form.
func TestReadsPublishedFiles(t *testing.T) {
	st := newStore(t)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	text := `{"type":"meta","meta":{"id":"0a0b0c0d-1","cwd":"/p","model":"m","provider":"p","started":"2026-05-04T03:02:01.5Z","version":"0.0.7","fork_point":"odd"}}
{"type":"message","message":{"role":"user","content":[{"text":"hi"},{"mime_type":"image/png","data":"AQI="}],"time":"2026-05-04T03:02:01+02:00"}}
{"type":"later","x":1}
{"type":"message","message":{"role":"assistant","content":[{"id":"c","name":"read","arguments":"{\"path\":\"a\"}"},{"id":"d","name":"read","arguments":"{\"path\":"}],"time":"bad"}}
{"type":"message","message":{"role":"tool","content":[{"call_id":"c","content":[{"text":"ok"}],"is_error":false}],"time":"2026-05-04T03:02:01Z"}}
{"type":"rename","title":"named"}
{"type":"meta","meta":{"id":"0a0b0c0d-1","cwd":"/p","model":"m2","provider":"p","started":"2026-05-04T03:02:01Z","version":"0.0.7"}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, st, path)
	if l.Meta.Model != "m2" || l.Meta.Title != "named" || len(l.Messages) != 4 {
		t.Fatalf("loaded %+v", l)
	}
	calls := l.Messages[1].ToolCalls()
	if string(calls[0].Args) != `{"path":"a"}` || string(calls[1].Args) != `{}` || calls[1].ArgsRaw != `{"path":` {
		t.Errorf("calls: %+v", calls)
	}
	if r := l.Messages[3].Content[0].(message.ToolResult); r.CallID != "d" || message.TextOf(r.Content) != StubResult || !r.IsError {
		t.Errorf("the call without a result got %+v", r)
	}
}

func TestTornTailAndDamagedMiddle(t *testing.T) {
	st := newStore(t)
	path := closed(t, create(t, st, "/p", user("one"), answer("two"), user("three")))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	damaged := lines[0] + lines[1] + `{"type":"message","message":{"ro` + "\n" + lines[2] + lines[3][:len(lines[3])-9] + "\x00\x00"
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, st, path)
	if got := texts(l.Messages); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("loaded %q", got)
	}
	if got := strings.Join(l.Notices, "\n"); !strings.Contains(got, "line 3 is damaged") || !strings.Contains(got, "cut off") {
		t.Errorf("notices: %s", got)
	}
	if info, err := st.Stat(path); err != nil || info.Messages != 2 || info.Last != "one" {
		t.Errorf("the listing does not agree: %+v, %v", info, err)
	}
	s, l, err := st.Resume(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(l.Notices, "\n"), "were removed") {
		t.Errorf("notices: %q", l.Notices)
	}
	if err := s.Append(user("four")); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	l = mustLoad(t, st, path)
	if got := texts(l.Messages); !slices.Equal(got, []string{"one", "two", "four"}) || len(l.Notices) != 1 {
		t.Errorf("after resuming: %q, %q", got, l.Notices)
	}

	// A last line that only lacks its end is whole.
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	s, l, err = st.Resume(path, LoadOptions{})
	if err != nil || len(l.Messages) != 3 || len(l.Notices) != 0 {
		t.Fatalf("resumed %d messages, %v, %v", len(l.Messages), l.Notices, err)
	}
	if err := s.Append(user("five")); err != nil {
		t.Fatal(err)
	}
	if l := mustLoad(t, st, closed(t, s)); len(l.Messages) != 4 {
		t.Errorf("%d messages", len(l.Messages))
	}
}

func texts(ms []message.Message) []string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Text())
	}
	return out
}

func TestKilledInTheMiddleOfCalls(t *testing.T) {
	st := newStore(t)
	path := closed(t, create(t, st, "/p", user("go"), calling("a", "b", "c"), result("b", "done")))
	for range 2 { // the second time there is nothing to mend
		s, l, err := st.Resume(path, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Messages) != 4 || len(l.Messages[3].Content) != 2 || l.Ordinals[3] != 3 {
			t.Fatalf("resumed %+v, ordinals %v", l.Messages, l.Ordinals)
		}
		closed(t, s)
	}
	if l := mustLoad(t, st, path); len(l.Notices) != 0 {
		t.Errorf("the results are not in the file: %q", l.Notices)
	}
}

func TestTwoInstancesNeverMix(t *testing.T) {
	st := newStore(t)
	var all sync.WaitGroup
	paths := make([]string, 20)
	for i := range paths {
		all.Go(func() {
			s := create(t, NewStore(st.dir), "/p", user("hello"))
			paths[i] = closed(t, s)
		})
	}
	all.Wait()
	slices.Sort(paths)
	if n := len(slices.Compact(paths)); n != 20 {
		t.Errorf("20 sessions are in %d files", n)
	}
	s, _, err := st.Resume(paths[0], LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewStore(st.dir).Resume(paths[0], LoadOptions{}); !errors.Is(err, ErrInUse) {
		t.Errorf("resuming twice: %v, want ErrInUse", err)
	}
	if err := st.Remove(paths[0]); !errors.Is(err, ErrInUse) {
		t.Errorf("deleting an open session: %v, want ErrInUse", err)
	}
	closed(t, s)
	if s, _, err = st.Resume(paths[0], LoadOptions{}); err != nil {
		t.Errorf("after closing: %v", err)
	}
	closed(t, s)
}

func TestEmptySessionsGo(t *testing.T) {
	st := newStore(t)
	path := closed(t, create(t, st, "/p"))
	if exists(path) {
		t.Error("the empty session is still there")
	}
	s := create(t, st, "/p", user("x"))
	closed(t, s)
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := s.Append(user("y")); !errors.Is(err, errClosed) {
		t.Errorf("after closing: %v", err)
	}
}

func TestCompactAndClear(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/p", user("1"), answer("2"), user("3"), calling("a"), result("a", "x"), answer("6"))
	turn, sum := message.Usage{Known: true, Input: 900}, message.Usage{Known: true, Input: 950}
	for _, err := range []error{
		s.AppendUsage(turn, turn), s.SetActivated([]string{"deep"}), s.AppendUsage(message.Usage{}, sum),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if l := mustLoad(t, st, s.Path()); l.LastTurn != turn || l.Usage != sum {
		t.Errorf("a call that was no turn: %+v, %+v", l.LastTurn, l.Usage)
	}
	if err := s.Compact(user("summary"), 4); err != nil {
		t.Fatal(err)
	}
	if l := mustLoad(t, st, s.Path()); l.LastTurn.Known || l.Usage != sum {
		t.Errorf("after the summary: %+v, %+v", l.LastTurn, l.Usage)
	}
	if err := s.SetActivated(nil); err != nil {
		t.Fatal(err)
	}
	if l := mustLoad(t, st, s.Path()); l.Activated == nil || len(l.Activated) != 0 {
		t.Errorf("switched off again: %#v", l.Activated)
	}
	if err := s.Append(user("7")); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, st, s.Path())
	if got := texts(l.Messages); !slices.Equal(got, []string{"summary", "3", "", "", "6", "7"}) {
		t.Errorf("after compacting: %q", got)
	}
	if !slices.Equal(l.Ordinals, []int{-1, 2, 3, 4, 5, 6}) {
		t.Errorf("ordinals: %v", l.Ordinals)
	}
	if h, err := st.History(s.Path()); err != nil || len(h) != 7 || h[3].Calls[0] != "read" || h[6].Preview != "7" {
		t.Errorf("history: %+v, %v", h, err)
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(user("8")); err != nil {
		t.Fatal(err)
	}
	l = mustLoad(t, st, closed(t, s))
	if got := texts(l.Messages); !slices.Equal(got, []string{"8"}) || l.Usage.Known {
		t.Errorf("after clearing: %q, %+v", got, l.Usage)
	}
}

func TestBlobsAreStoredOnceAndBounded(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/p")
	for i := range 12 {
		data := bytes.Repeat([]byte{byte(i % 6)}, 100_000)
		m := message.Message{Role: message.User, Time: at, Content: []message.Block{message.Image{MIMEType: "image/png", Data: data}}}
		if err := s.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	path := closed(t, s)
	entries, err := os.ReadDir(string(s.blobs))
	if err != nil || len(entries) != 6 {
		t.Fatalf("%d blobs for 6 different images, %v", len(entries), err)
	}
	l, err := st.Load(path, LoadOptions{MaxBlobs: 450_000})
	if err != nil {
		t.Fatal(err)
	}
	var loaded int
	for i, m := range l.Messages {
		if _, ok := m.Content[0].(message.Image); ok {
			loaded++
			if i < 8 {
				t.Errorf("image %d is loaded before a later one", i)
			}
		}
	}
	if loaded != 4 || len(l.Notices) != 1 || !strings.Contains(l.Notices[0], "8 images") {
		t.Errorf("%d images within the bound, notices %q", loaded, l.Notices)
	}
	for _, e := range entries {
		blob := filepath.Join(string(s.blobs), e.Name())
		if e == entries[0] {
			err = os.Remove(blob)
		} else {
			err = os.WriteFile(blob, []byte("forged"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l = mustLoad(t, st, path)
	all := strings.Join(texts(l.Messages), "\n")
	if strings.Count(all, "its file is missing") != 2 || strings.Count(all, "its file is damaged") != 10 {
		t.Errorf("placeholders:\n%s", all)
	}
}

// Images that another program wrote into the file itself are bounded as well.
func TestInlineImagesAreBounded(t *testing.T) {
	st := newStore(t)
	path := closed(t, create(t, st, "/p", user("x")))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		m := message.Message{Role: message.User, Content: []message.Block{message.Image{MIMEType: "image/png", Data: make([]byte, 100_000)}}}
		row, err := messageRow(m, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(row, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	l, err := st.Load(path, LoadOptions{MaxBlobs: 350_000})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range l.Messages {
		if _, ok := m.Content[0].(message.Image); ok {
			n++
		}
	}
	if _, last := l.Messages[10].Content[0].(message.Image); n != 3 || !last {
		t.Errorf("%d images are loaded, want the last 3", n)
	}
}

func TestEveryRowFollowsTheSchema(t *testing.T) {
	schema, err := jsonschema.Compile(filepath.Join("..", "..", "schemas", "session.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	st := newStore(t)
	s := create(t, st, "/p", rich...)
	for _, err := range []error{
		s.AppendUsage(message.Usage{}, message.Usage{Known: true, Reasoning: 1}), s.SetModel("a", "b", "c"), s.Rename("t"),
		s.SetActivated(nil), s.Compact(user("s"), 0), s.Clear(), s.Append(user("x")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	path := closed(t, s)
	fork, err := st.Fork(path, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	var exported bytes.Buffer
	if err := st.Export(path, &exported); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"session": read(t, path), "fork": read(t, fork.Path), "export": exported.Bytes()} {
		for line := range bytes.Lines(text) {
			var v any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %.300s\ndoes not follow the schema: %#v", name, line, err)
			}
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFailedWritesLeaveWholeLines(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/p", user("one"))
	reader, err := os.Open(s.Path()) // open for reading: every write fails
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	good := s.file
	s.file = reader
	if err := s.Append(user("lost")); err == nil {
		t.Fatal("writing to a file that cannot be written succeeded")
	}
	s.file = good
	if err := s.Append(user("two")); err != nil {
		t.Fatal(err)
	}
	if got := texts(mustLoad(t, st, closed(t, s)).Messages); fmt.Sprint(got) != "[one two]" {
		t.Errorf("loaded %q", got)
	}
}
