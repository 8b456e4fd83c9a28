package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/provider/sse"
)

// read collects "name|data" of every event and the error that ended the stream.
func read(src io.Reader, limit int) ([]string, error) {
	r := sse.NewReader(src, limit)
	var got []string
	for {
		ev, err := r.Next()
		if err != nil {
			return got, err
		}
		s := ev.Name + "|" + string(ev.Data)
		if ev.Unfinished {
			s += "|unfinished"
		}
		got = append(got, s)
	}
}

func TestNext(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"no space after the colon", "data:a\n\n", []string{"|a"}},
		{"one space only is the field's", "data:  a\n\n", []string{"| a"}},
		{"several data lines", "data: a\ndata: b\ndata:\n\n", []string{"|a\nb\n"}},
		{"first data line empty", "data:\ndata: b\n\n", []string{"|\nb"}},
		{"comments", ": ping\n\n: ping\ndata: a\n: ping\n\n", []string{"|a"}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"cr", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed endings", "data: a\r\n\ndata: b\n\r\n", []string{"|a", "|b"}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"byte order mark later is data", "data: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
		{"event with empty data", "data:\n\ndata: \n\ndata: a\n\n", []string{"|a"}},
		{"event name only", "event: ping\n\nevent: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		{"id, retry and unknown fields", "id: 1\nretry: 5\nfoo: bar\nbaz\ndata: a\n\n", []string{"|a"}},
		{"last event without a blank line", "data: a\n\ndata: b\n", []string{"|a", "|b|unfinished"}},
		{"last line without an ending", "data: a\n\ndata: b", []string{"|a", "|b|unfinished"}},
		{"big line", "data: " + big + "\n\ndata: b\n\n", []string{"|" + big, "|b"}},
		{"nothing", "", nil},
		{"blank lines", "\n\n\r\n\r", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(strings.NewReader(tt.in), 0)
			if err != io.EOF {
				t.Errorf("ended with %v, want EOF", err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	tests := map[string]string{
		"one endless line": "data: ok\n\ndata: " + strings.Repeat("x", 100_000),
		"endless data":     "data: ok\n\n" + strings.Repeat("data: 0123456789\n", 10_000),
		"endless comment":  "data: ok\n\n:" + strings.Repeat("x", 100_000),
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(strings.NewReader(in), 50_000)
			var long *sse.TooLongError
			if !errors.As(err, &long) || long.Limit != 50_000 {
				t.Errorf("error = %v, want a TooLongError of 50000", err)
			}
			if d := cmp.Diff([]string{"|ok"}, got); d != "" {
				t.Errorf("events before it (-want +got):\n%s", d)
			}
		})
	}
}

func TestSourceError(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken)), 0)
	if err != broken {
		t.Errorf("error = %v, want %v", err, broken)
	}
	if d := cmp.Diff([]string{"|a"}, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// A finished event is returned although nothing follows it yet: a reader that
// waited for more would hold back the last word of a slow model.
func TestDoesNotWait(t *testing.T) {
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		pr, pw := io.Pipe()
		go io.WriteString(pw, "data: a"+ending+ending)
		ev, err := sse.NewReader(pr, 0).Next()
		if err != nil || string(ev.Data) != "a" {
			t.Errorf("%q: got %q, %v", ending, ev.Data, err)
		}
		pr.Close()
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\r\n\r\n: c\n\ndata:b\rdata:\n\n"))
	f.Add([]byte("\ufeffdata: {\"a\":1}\n\ndata: [DONE]"))
	f.Add([]byte("data\n\ndata:\n\nevent\n\n\r\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 16
		whole, err := read(bytes.NewReader(in), limit)
		byByte, err2 := read(iotest.OneByteReader(bytes.NewReader(in)), limit)
		if d := cmp.Diff(whole, byByte); d != "" || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("the split of reads shows: %v, %v\n%s", err, err2, d)
		}
		if bytes.ContainsAny(in, "\r") {
			return
		}
		crlf, _ := read(bytes.NewReader(bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n"))), limit)
		if d := cmp.Diff(whole, crlf); d != "" {
			t.Fatalf("CR LF reads differently from LF (-lf +crlf):\n%s", d)
		}
		// What was read, written out again, reads the same.
		var out strings.Builder
		for _, ev := range whole {
			name, data, _ := strings.Cut(strings.TrimSuffix(ev, "|unfinished"), "|")
			fmt.Fprintf(&out, "event:%s\n", prefixed(name))
			for line := range strings.SplitSeq(data, "\n") {
				fmt.Fprintf(&out, "data: %s\n", line)
			}
			out.WriteString("\n")
		}
		again, _ := read(strings.NewReader(out.String()), limit)
		for i := range whole {
			whole[i] = strings.TrimSuffix(whole[i], "|unfinished")
		}
		if d := cmp.Diff(whole, again); d != "" {
			t.Fatalf("round trip (-first +again):\n%s", d)
		}
	})
}

func prefixed(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}
