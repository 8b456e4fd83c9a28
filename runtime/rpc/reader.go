package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

// A line is one line of the client without its terminator. Of one that is over
// the limit text holds the first bytes only.
type line struct {
	text    []byte
	tooLong bool
}

// headBytes is how much is kept of a line that is over the limit: enough to
// find the id of the command in most.
const headBytes = 4 << 10

// command decodes the line. With an error the command holds what could be read
// of its id and type, so that the refusal can name them.
func (l line) command() (rpcproto.Command, error) {
	if l.tooLong {
		return headOf(l.text), fmt.Errorf("the line is over the limit of %d bytes", rpcproto.MaxLine)
	}
	return rpcproto.DecodeCommand(l.text)
}

// headOf reads the id and type of a command that breaks off, as far as they
// stand before the break.
func headOf(text []byte) rpcproto.Command {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return rpcproto.Command{}
	}
	head := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if name, _ := key.(string); name == "id" || name == "type" {
			head[name] = value
		}
	}
	text, err := json.Marshal(head)
	if err != nil {
		return rpcproto.Command{}
	}
	c, _ := rpcproto.DecodeCommand(text)
	return rpcproto.Command{ID: c.ID, Type: c.Type}
}

// readLines sends each line that is not blank, until the input or ctx ends.
// The mark that some programs put at the beginning of a text, and CR before
// the end of a line, are not part of it.
func readLines(ctx context.Context, r io.Reader, lines chan<- line) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for first := true; ; first = false {
		l, err := readLine(br)
		if first {
			l.text = bytes.TrimPrefix(l.text, []byte("\xef\xbb\xbf"))
		}
		if l.tooLong || len(bytes.TrimSpace(l.text)) > 0 {
			select {
			case lines <- l:
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading commands: %w", err)
		}
	}
}

// readLine reads up to the next LF or the end. What is over the limit is read
// and dropped, so that the next line is found.
func readLine(br *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := br.ReadSlice('\n')
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		ended := !errors.Is(err, bufio.ErrBufferFull)
		if ended {
			l.text = bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
		}
		if !l.tooLong && len(l.text) > rpcproto.MaxLine && (ended || len(l.text) > rpcproto.MaxLine+1) {
			l = line{text: bytes.Clone(l.text[:headBytes]), tooLong: true}
		}
		if ended {
			return l, err
		}
	}
}
