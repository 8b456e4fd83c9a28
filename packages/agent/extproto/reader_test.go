package extproto_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

func readAll(r *extproto.Reader) (lines []string, err error) {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"last line without an end", "a\nb", []string{"a", "b"}},
		{"carriage returns and a mark", "\xef\xbb\xbfa\r\nb\r\n", []string{"a", "b"}},
		{"a mark later is text", "a\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}},
		{"blank lines", "\n\n a \n\t\n\r\nb\n", []string{" a ", "b"}},
		{"long", long + "\n" + "b\n", []string{long, "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.DataErrReader(strings.NewReader(tt.in))} {
				got, err := readAll(extproto.NewReader(in))
				if err != nil || !slices.Equal(got, tt.want) {
					t.Fatalf("got %.80q, %v; want %.80q", got, err, tt.want)
				}
			}
		})
	}
}

func TestReaderLimit(t *testing.T) {
	exact := strings.Repeat("x", extproto.MaxFrame)
	got, err := readAll(extproto.NewReader(strings.NewReader(exact + "\r\nb\n")))
	if err != nil || len(got) != 2 || got[0] != exact {
		t.Fatalf("a line of exactly the limit: %d lines, %v", len(got), err)
	}
	_, err = readAll(extproto.NewReader(strings.NewReader(exact + "x\nb\n")))
	if !errors.Is(err, extproto.ErrFrameTooLong) {
		t.Fatalf("a line over the limit gave %v", err)
	}
	// One that never ends is given up early.
	endless := io.MultiReader(strings.NewReader(exact), iotest.ErrReader(errors.New("read too far")))
	_, err = readAll(extproto.NewReader(io.MultiReader(strings.NewReader(exact), endless)))
	if !errors.Is(err, extproto.ErrFrameTooLong) {
		t.Fatalf("a line without an end gave %v", err)
	}
}

func TestPeek(t *testing.T) {
	for _, tt := range []struct {
		line, wantType, wantID string
		ok                     bool
	}{
		{`{"type":"a","id":"1"}`, "a", "1", true},
		{`{"type":"a","id":7}`, "a", "7", true},
		{`{"type":"a","id":null}`, "a", "", true},
		{`{"type":"a"}`, "a", "", true},
		{`{"id":"1"}`, "", "", false},
		{`[]`, "", "", false},
		{`"type"`, "", "", false},
		{`{"type":1}`, "", "", false},
		{`{"type":"a"`, "", "", false},
	} {
		h, err := extproto.Peek([]byte(tt.line))
		if (err == nil) != tt.ok || (tt.ok && (h.Type != tt.wantType || h.ID != tt.wantID)) {
			t.Errorf("%s: %+v, %v", tt.line, h, err)
		}
		if err != nil && !errors.Is(err, extproto.ErrNotFrame) {
			t.Errorf("%s: %v is not ErrNotFrame", tt.line, err)
		}
	}
}
