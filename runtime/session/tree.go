package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
)

// A Node is a session among those that were forked from each other.
type Node struct {
	Info
	Forks []*Node
}

// Tree arranges sessions by what they were forked from. A session whose parent
// is not among them is a root. The order of infos is kept at each level.
func Tree(infos []Info) []*Node {
	nodes := make(map[string]*Node, len(infos))
	for _, i := range infos {
		nodes[i.ID] = &Node{Info: i}
	}
	var roots []*Node
	for _, i := range infos {
		n := nodes[i.ID]
		if parent, ok := nodes[i.Parent]; ok && !descends(nodes, parent, n) {
			parent.Forks = append(parent.Forks, n)
			continue
		}
		roots = append(roots, n)
	}
	return roots
}

// descends reports whether n is of's forebear or of itself: files that name
// each other as parents must not make a circle.
func descends(nodes map[string]*Node, n, of *Node) bool {
	for steps := 0; n != nil && steps <= len(nodes); steps++ {
		if n == of {
			return true
		}
		n = nodes[n.Parent]
	}
	return n != nil
}

// An Entry is a message of the file as a timeline shows it.
type Entry struct {
	// Ordinal is how many messages are before it: Fork with it begins a
	// session that ends just before this message.
	Ordinal int
	Role    message.Role
	Time    time.Time
	Preview string // the beginning of its text, in one line
	Calls   []string
}

// History lists all messages of a session's file, those that a compaction or
// a clearing took out of the transcript included. It holds one line at a time.
func (st *Store) History(path string) ([]Entry, error) {
	var out []Entry
	err := eachRow(path, func(_ []byte, r row) error {
		if r.Type != rowMessage {
			return nil
		}
		e := Entry{Ordinal: len(out), Role: message.Role(r.Message.Role), Time: parseTime(r.Message.Time)}
		for _, b := range r.Message.Content {
			switch {
			case b.CallID != nil:
			case b.Name != nil:
				e.Calls = append(e.Calls, *b.Name)
			case b.Text != nil && e.Preview == "":
				e.Preview = oneLine(*b.Text)
			}
		}
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading session %q: %w", path, err)
	}
	return out, nil
}

// eachRow calls fn with each good line of a file and its row.
func eachRow(path string, fn func(line []byte, r row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = eachRowOf(f, fn)
	return err
}

// eachRowOf does so for a stream, and counts the lines that make no sense.
func eachRowOf(r io.Reader, fn func(line []byte, r row) error) (bad int, err error) {
	lines := newLineReader(r)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return bad, nil
		}
		if err != nil {
			return bad, err
		}
		if !l.long && len(l.data) == 0 {
			continue
		}
		r, err := decodeRow(l.data)
		if err != nil {
			bad++
			continue
		}
		if err := fn(l.data, r); err != nil {
			return bad, err
		}
	}
}
