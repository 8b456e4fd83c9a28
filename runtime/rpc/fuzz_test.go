package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

// read returns what the reader makes of an input.
func read(t *testing.T, input []byte) []line {
	t.Helper()
	lines, ended := make(chan line), make(chan error, 1)
	go func() {
		ended <- readLines(context.Background(), bytes.NewReader(input), lines)
		close(lines)
	}()
	var all []line
	for l := range lines {
		all = append(all, l)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return all
}

// Every line that is not blank becomes one command or one refusal that the
// client can read, and a command survives being written and read again.
func FuzzCommands(f *testing.F) {
	for _, seed := range []string{
		"{\"id\":\"1\",\"type\":\"hello\",\"token\":\"t\",\"capabilities\":[\"confirm\"]}\n{\"type\":\"ping\"}",
		"\xef\xbb\xbf{\"id\":-1.5e3,\"type\":\"prompt\",\"message\":\"x\",\"images\":[{\"mime_type\":\"image/png\",\"data\":\"eA==\"}]}\r\n",
		"\n \n\r\n{}\n[]\nnull\n\"x\"\n{\"type\":1}\n{\"id\":{}}\n{\"id\":\"a\",\"type\":\"prompt\",\"images\":[{\"data\":\"%\"}]}",
		"{\"id\":\"1\",\"ty\x00pe\":\"\xff\"", "{\"a\":{\"id\":1},\"id\":2,\"type\":\"x\",\"message\":\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		want := 0
		for text := range bytes.SplitSeq(bytes.TrimPrefix(input, []byte("\xef\xbb\xbf")), []byte("\n")) {
			if len(bytes.TrimSpace(text)) > 0 {
				want++
			}
		}
		lines := read(t, input)
		if len(lines) != want {
			t.Fatalf("%d lines, want %d", len(lines), want)
		}
		for _, l := range lines {
			c, err := l.command()
			if err != nil {
				checkRefusal(t, c, err)
				c = headOf(l.text)
				checkRefusal(t, c, err)
				continue
			}
			text, err := rpcproto.EncodeCommand(c)
			if err != nil {
				t.Fatalf("%q was read and cannot be written: %v", l.text, err)
			}
			again, err := rpcproto.DecodeCommand(text)
			if err != nil {
				t.Fatalf("%q became %q, which cannot be read: %v", l.text, text, err)
			}
			if second, err := rpcproto.EncodeCommand(again); err != nil || !bytes.Equal(text, second) {
				t.Fatalf("%q became %q and then %q (%v)", l.text, text, second, err)
			}
		}
	})
}

func checkRefusal(t *testing.T, c rpcproto.Command, reason error) {
	t.Helper()
	text, err := rpcproto.EncodeResponse(rpcproto.Fail(c, reason.Error()))
	if err != nil || !json.Valid(text) || bytes.ContainsRune(text, '\n') {
		t.Fatalf("the refusal is %q (%v)", text, err)
	}
}

// What is kept of a line over the limit is enough to name the command.
func TestHeadOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"7","type":"prompt","message":"xxxx`:                       `"7" prompt`,
		`{"type":"prompt","id":12,"message":"xxxx`:                        `12 prompt`,
		`{"images":[{"mime_type":"a/b","data":"x"}],"id":"3","message":"`: `"3" `,
		`{"message":"xxxx`: ` `,
		`{"id":{"a":1},"type":"prompt","message":"xx`: ` prompt`,
		`[{"id":"1"`: ` `,
		`xxxxxxxxxx`: ` `,
		`{"id":"1`:   ` `,
	} {
		if c := headOf([]byte(text)); strings.TrimSuffix(string(c.ID)+" "+c.Type, "\n") != want {
			t.Errorf("%s: %s %s, want %s", text, c.ID, c.Type, want)
		}
	}
}
