package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
)

// FuzzLines loads what a stranger may have put into a file: nothing may break,
// the transcript must be one that a provider takes, and what is loaded must
// come back the same from a file of our own.
func FuzzLines(f *testing.F) {
	for _, m := range rich {
		row, err := messageRow(m, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row[:min(len(row), 4000)])
	}
	f.Add([]byte(`{"type":"meta","meta":{"id":"x","started":"2026-05-04T03:02:01Z"}}`))
	f.Add([]byte(`{"type":"compact","message":{"role":"user","content":[{"text":"s"}]},"keep":-1}`))
	f.Add([]byte("{\"type\":\"clear\"}\n{\"type\":\"activated\",\"tools\":[\"a\"]}\n\x00\x00{\"type\":\"rename\",\"title\":\"t\"}"))
	f.Add([]byte(`{"type":"message","message":{"role":"tool","content":[{"call_id":"c"},{"name":"n","arguments":"{"},{"blob":"x","text":""},{}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		ld := &loader{out: &Loaded{}, decoder: decoder{budget: 1 << 20}}
		l, err := ld.read(bytes.NewReader(text))
		if err != nil {
			return
		}
		checkTranscript(t, l.Messages)
		if len(l.Ordinals) != len(l.Messages) {
			t.Fatalf("%d ordinals for %d messages", len(l.Ordinals), len(l.Messages))
		}
		var again bytes.Buffer
		for _, m := range l.Messages {
			row, err := messageRow(m, "")
			if err != nil {
				t.Fatal(err)
			}
			again.Write(append(row, '\n'))
		}
		if len(l.Messages) == 0 {
			return
		}
		ld = &loader{out: &Loaded{}, decoder: decoder{budget: 1 << 20}}
		l2, err := ld.read(&again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Messages, l2.Messages); diff != "" {
			t.Errorf("(-loaded +saved and loaded):\n%s", diff)
		}
	})
}

// checkTranscript fails unless every call has one result right after it.
func checkTranscript(t *testing.T, ms []message.Message) {
	t.Helper()
	open := map[string]int{}
	sum := func() (n int) {
		for _, v := range open {
			n += v
		}
		return n
	}
	for i, m := range ms {
		if m.Role != message.Tool && sum() != 0 {
			t.Fatalf("message %d comes before all results: %v", i, open)
		}
		for _, b := range m.Content {
			switch b := b.(type) {
			case message.ToolCall:
				if m.Role != message.Assistant || !isObject(b.Args) {
					t.Fatalf("a call in a message of role %s with arguments %q", m.Role, b.Args)
				}
				open[b.ID]++
			case message.ToolResult:
				if open[b.CallID]--; m.Role != message.Tool || open[b.CallID] < 0 {
					t.Fatalf("a result without a call: %q", b.CallID)
				}
			}
		}
	}
	if sum() != 0 {
		t.Fatalf("calls without results at the end: %v", open)
	}
}

// Any order of messages is repaired into a good one, and a good one stays.
func TestRepairProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var ms []message.Message
		for range r.IntN(12) {
			switch id := fmt.Sprint(r.IntN(3)); r.IntN(5) {
			case 0:
				ms = append(ms, user("u"))
			case 1:
				ms = append(ms, answer("a"))
			case 2:
				ms = append(ms, calling(id, fmt.Sprint(r.IntN(3))))
			case 3:
				ms = append(ms, result(id, "r"))
			case 4:
				ms = append(ms, message.Message{Role: message.Assistant})
			}
		}
		once := Repair(ms)
		checkTranscript(t, once)
		if diff := cmp.Diff(once, Repair(once)); diff != "" {
			t.Fatalf("repairing twice changes: %s", diff)
		}
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	r := newLineReader(strings.NewReader("a\r\n\n" + long + "\n" + strings.Repeat("y", 400_000) + "\nb\x00"))
	r.max = 350_000
	var got []string
	for {
		l, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%d:%d:%v:%v", l.number, len(l.data), l.size, l.long, l.torn))
	}
	want := []string{"1:1:3:false:false", "2:0:1:false:false", "3:300000:300001:false:false", "4:0:400001:true:false", "5:1:2:false:true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// bigSession writes a conversation of n messages.
func bigSession(tb testing.TB, n int) (*Store, string) {
	tb.Helper()
	st := NewStore(filepath.Join(tb.TempDir(), "sessions"))
	s, err := st.Create(Start{Cwd: "/p", Provider: "p", Model: "m"})
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < n; i += 4 {
		for _, m := range []message.Message{
			user(fmt.Sprintf("please do step %d", i)), calling(fmt.Sprint(i)),
			result(fmt.Sprint(i), strings.Repeat("a line of output\n", 40)), answer(strings.Repeat("some prose. ", 30)),
		} {
			if err := s.Append(m); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return st, s.Path()
}

// decodeOnly reads the file and decodes each line: what resuming cannot do
// without.
func decodeOnly(tb testing.TB, path string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		l, err := r.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var v row
		if err != nil || json.Unmarshal(l, &v) != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkResume10000 compares resuming a session of 10,000 messages with
// reading and decoding its file; "x-decode" is the ratio.
func BenchmarkResume10000(b *testing.B) {
	st, path := bigSession(b, 10_000)
	var decode, resume time.Duration
	for b.Loop() {
		start := time.Now()
		decodeOnly(b, path)
		decode += time.Since(start)
		start = time.Now()
		s, l, err := st.Resume(path, LoadOptions{})
		if err != nil || len(l.Messages) != 10_000 {
			b.Fatal(len(l.Messages), err)
		}
		resume += time.Since(start)
		s.Close()
	}
	b.ReportMetric(float64(resume)/float64(decode), "x-decode")
}

func BenchmarkList1000(b *testing.B) {
	st := NewStore(filepath.Join(b.TempDir(), "sessions"))
	for range 1000 {
		s, err := st.Create(Start{Cwd: "/p", Provider: "p", Model: "m"})
		if err != nil {
			b.Fatal(err)
		}
		for range 30 {
			_ = s.Append(user("a prompt"))
			_ = s.Append(answer(strings.Repeat("prose ", 500)))
		}
		s.file.Close() // without the sync
		s.lock.unlock()
	}
	for b.Loop() {
		if infos, errs := st.List("/p"); len(infos) != 1000 || errs != nil {
			b.Fatal(len(infos), errs)
		}
	}
}
