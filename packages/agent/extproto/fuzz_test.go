package extproto_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/packages/agent/extproto/extprototest"
)

// What decodes also encodes, and that decodes to the same again.
func FuzzDecodeFromExtension(f *testing.F) {
	seed(f, false)
	f.Fuzz(func(t *testing.T, line []byte) { roundTrip(t, line, extproto.DecodeFromExtension) })
}

func FuzzDecodeFromHost(f *testing.F) {
	seed(f, true)
	f.Fuzz(func(t *testing.T, line []byte) { roundTrip(t, line, extproto.DecodeFromHost) })
}

func seed(f *testing.F, host bool) {
	for _, c := range extprototest.Load(f, golden) {
		for _, s := range c.Steps {
			if s.Raw != nil {
				f.Add([]byte(*s.Raw))
			} else if s.Frame != nil && s.FromHost() == host {
				f.Add([]byte(s.Frame))
			}
		}
	}
	f.Add([]byte(`{"type":"tool_result","id":"1","content":null}`))
	f.Add([]byte("{\"type\":\"notify\",\"message\":\"\xff\"}"))
}

func roundTrip(t *testing.T, line []byte, decode func([]byte) (extproto.Frame, error)) {
	first, err := decode(line)
	if err != nil {
		return
	}
	once, err := extproto.Encode(first)
	if err != nil {
		t.Fatalf("%q decodes to %#v, which does not encode: %v", line, first, err)
	}
	if bytes.ContainsAny(once, "\r\n") {
		t.Fatalf("%q encodes to more than one line: %q", line, once)
	}
	second, err := decode(once)
	if err != nil {
		t.Fatalf("%q encodes to %q, which does not decode: %v", line, once, err)
	}
	twice, err := extproto.Encode(second)
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("%q encodes to %q and then to %q (%v)", line, once, twice, err)
	}
}

// A stream is cut into lines that hold no line end and are not blank, however
// it comes.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbf{}\r\n\n \n{\"a\":1}"))
	f.Add([]byte("\n\r\n\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := extproto.NewReader(bytes.NewReader(data))
		for {
			line, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsRune(line, '\n') || len(bytes.TrimSpace(line)) == 0 {
				t.Fatalf("%q gave the line %q", data, line)
			}
		}
	})
}
