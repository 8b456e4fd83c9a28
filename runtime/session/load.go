package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/patriceckhart/zot/runtime/message"
)

// DefaultMaxBlobs is the default of LoadOptions.MaxBlobs.
const DefaultMaxBlobs = 64 << 20

// LoadOptions bounds what loading holds in memory.
type LoadOptions struct {
	// MaxBlobs is how many bytes of images and long texts are loaded, the
	// latest first; 0 stands for DefaultMaxBlobs. What does not fit is
	// replaced by a line that says so. Besides these, loading holds the rest
	// of the transcript and one line of the file.
	MaxBlobs int64
}

// Loaded is what a session holds.
type Loaded struct {
	Meta Meta
	// Messages is the transcript as the model is to see it: every call has one
	// result, and what a compaction replaced or a clearing dropped is gone.
	Messages []message.Message
	// Ordinals counts, for each message, the messages before it in the file;
	// -1 for those that are not in it as they are: summaries and the results
	// made up for calls that were cut off.
	Ordinals []int
	// Usage is the sum of the tokens of all turns, and LastTurn those of the
	// last one.
	Usage, LastTurn message.Usage
	// Activated lists the deferred tools that are switched on.
	Activated []string
	// Notices says what was passed over or repaired, a line each, for the user.
	Notices []string

	rows  int // message rows in the file
	metas int
}

// Load reads a session without opening it for writing.
func (st *Store) Load(path string, o LoadOptions) (*Loaded, error) {
	l, err := load(path, o)
	if err != nil {
		return nil, fmt.Errorf("loading session %q: %w", path, err)
	}
	return l, nil
}

func load(path string, o LoadOptions) (*Loaded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ld := &loader{out: &Loaded{}, decoder: decoder{blobs: blobsOf(path), budget: o.MaxBlobs}}
	if ld.decoder.budget <= 0 {
		ld.decoder.budget = DefaultMaxBlobs
	}
	return ld.read(f)
}

// A loader goes through the rows of a file.
type loader struct {
	out     *Loaded
	decoder decoder
	notes   notes
	fixes   fixes
}

func (ld *loader) read(r io.Reader) (*Loaded, error) {
	lines := newLineReader(r)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return ld.finish()
		}
		if err != nil {
			return nil, err
		}
		ld.line(l)
	}
}

func (ld *loader) line(l line) {
	switch {
	case l.long:
		ld.notes.add("line %d is longer than %d bytes and was passed over", l.number, maxLine)
		return
	case len(l.data) == 0:
		return
	}
	r, err := decodeRow(l.data)
	if err == nil {
		err = ld.row(r)
	}
	switch {
	case err == nil:
	case l.torn:
		ld.notes.add("the last entry was cut off while it was written and is left out")
	default:
		ld.notes.add("line %d is damaged and was passed over: %v", l.number, err)
	}
}

func (ld *loader) row(r row) error {
	switch r.Type {
	case rowMeta:
		ld.out.Meta = r.Meta.after(ld.out.Meta)
		ld.out.metas++
	case rowMessage:
		return ld.message(r.Message)
	case rowUsage:
		ld.usage(r)
	case rowRename:
		ld.out.Meta.Title = *r.Title
		ld.out.metas++ // the first meta row is out of date
	case rowCompact:
		return ld.compact(r)
	case rowClear:
		ld.out.Messages, ld.out.Ordinals, ld.out.Activated = nil, nil, nil
		ld.out.Usage, ld.out.LastTurn = message.Usage{}, message.Usage{}
	case rowActivated:
		ld.out.Activated = r.Tools
	}
	return nil // rows of other types are somebody else's
}

// usage takes over the sums. A row without a turn is of a call that was none,
// and says nothing of the size of the transcript.
func (ld *loader) usage(r row) {
	ld.out.Usage = r.Cumulative.usage()
	if turn := r.Usage.usage(); turn.Known {
		ld.out.LastTurn = turn
	}
}

func (ld *loader) message(w *messageWire) error {
	ld.decoder.ordinal = ld.out.rows
	ld.out.rows++
	m, err := ld.decoder.decodeMessage(w)
	if err != nil {
		return err
	}
	ld.out.Messages = append(ld.out.Messages, m)
	ld.out.Ordinals = append(ld.out.Ordinals, ld.decoder.ordinal)
	ld.activated(m)
	return nil
}

// activated notes the tools that the message's results switched on.
func (ld *loader) activated(m message.Message) {
	for _, b := range m.Content {
		r, ok := b.(message.ToolResult)
		if !ok {
			continue
		}
		for _, name := range r.Activated {
			if !slices.Contains(ld.out.Activated, name) {
				ld.out.Activated = append(ld.out.Activated, name)
			}
		}
	}
}

// compact puts the summary in the place of all but the last messages. The
// count that the row holds is of the repaired transcript: it was made from it.
func (ld *loader) compact(r row) error {
	ld.decoder.ordinal = -1
	summary, err := ld.decoder.decodeMessage(r.Message)
	if err != nil {
		return err
	}
	messages, ordinals, fixes := repair(ld.out.Messages, ld.out.Ordinals)
	ld.fixes.add(fixes)
	keep := 0
	if r.Keep != nil {
		keep = min(max(*r.Keep, 0), len(messages))
	}
	from := len(messages) - keep
	ld.out.Messages = append([]message.Message{summary}, messages[from:]...)
	ld.out.Ordinals = append([]int{-1}, ordinals[from:]...)
	ld.out.LastTurn = message.Usage{} // it was of the longer one
	return nil
}

func (ld *loader) finish() (*Loaded, error) {
	out := ld.out
	if out.metas == 0 && out.rows == 0 {
		return nil, errors.New("it is no session: it has neither a meta row nor a message")
	}
	var fixes fixes
	out.Messages, out.Ordinals, fixes = repair(out.Messages, out.Ordinals)
	ld.fixes.add(fixes)
	first := out.rows
	if i := slices.IndexFunc(out.Ordinals, func(n int) bool { return n >= 0 }); i >= 0 {
		first = out.Ordinals[i]
	}
	missing := ld.decoder.loadHeld(first)
	if missing > 0 {
		ld.notes.add("%d images or long texts are shown as placeholders: they are missing or more than fits", missing)
	}
	if n := ld.decoder.unknownBlocks; n > 0 {
		ld.notes.add("%d parts of messages are of an unknown kind and were passed over", n)
	}
	ld.fixes.report(&ld.notes)
	out.Notices = ld.notes.list()
	return out, nil
}

// notes collects notices, and counts those that would be too many.
type notes struct {
	lines []string
	more  int
}

const maxNotes = 20

func (n *notes) add(format string, args ...any) {
	if len(n.lines) >= maxNotes {
		n.more++
		return
	}
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) list() []string {
	if n.more > 0 {
		return append(n.lines, fmt.Sprintf("and %d more of this kind", n.more))
	}
	return n.lines
}
