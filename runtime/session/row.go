package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
)

// Meta says what a session is.
type Meta struct {
	ID       string
	Cwd      string // the folder it belongs to; empty in an exported file
	Provider string
	Model    string
	// Reasoning is the level that was chosen, or empty.
	Reasoning string
	Started   time.Time
	Version   string // of the zot that began it
	Title     string
	// Parent is the id of the session that this one was forked from, and
	// ForkPoint how many of its messages it begins with.
	Parent    string
	ForkPoint int
}

// Types of row.
const (
	rowMeta      = "meta"
	rowMessage   = "message"
	rowUsage     = "usage"
	rowRename    = "rename"
	rowCompact   = "compact"
	rowClear     = "clear"
	rowActivated = "activated"
)

// row is a line of the file. Which fields are set depends on Type.
type row struct {
	Type       string       `json:"type"`
	Meta       *metaWire    `json:"meta,omitempty"`
	Message    *messageWire `json:"message,omitempty"`
	Usage      *usageWire   `json:"usage,omitempty"`
	Cumulative *usageWire   `json:"cumulative,omitempty"`
	Title      *string      `json:"title,omitempty"`
	Keep       *int         `json:"keep,omitempty"`
	Tools      []string     `json:"tools,omitempty"`
}

// metaWire is a Meta in the file. What another program may have written in
// another form is read late, so that it costs that field alone.
type metaWire struct {
	ID        string          `json:"id"`
	Cwd       string          `json:"cwd,omitempty"`
	Model     string          `json:"model"`
	Provider  string          `json:"provider"`
	Reasoning string          `json:"reasoning,omitempty"`
	Started   string          `json:"started"`
	Version   string          `json:"version"`
	Title     string          `json:"title,omitempty"`
	Parent    string          `json:"parent,omitempty"`
	ForkPoint json.RawMessage `json:"fork_point,omitempty"`
}

type messageWire struct {
	Role    string      `json:"role"`
	Content []blockWire `json:"content"`
	Time    string      `json:"time"`
}

type usageWire struct {
	Input      int     `json:"input"`
	Output     int     `json:"output"`
	Reasoning  int     `json:"reasoning,omitempty"`
	CacheRead  int     `json:"cache_read"`
	CacheWrite int     `json:"cache_write"`
	CostUSD    float64 `json:"cost_usd"`
}

var errNotRow = errors.New("not a row of a session")

// decodeRow reads a line.
func decodeRow(line []byte) (row, error) {
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return row{}, err
	}
	switch {
	case r.Type == "",
		r.Type == rowMeta && r.Meta == nil,
		(r.Type == rowMessage || r.Type == rowCompact) && r.Message == nil,
		r.Type == rowRename && r.Title == nil:
		return row{}, errNotRow
	}
	return r, nil
}

func (m *metaWire) meta() Meta {
	out := Meta{
		ID: m.ID, Cwd: m.Cwd, Provider: m.Provider, Model: m.Model, Reasoning: m.Reasoning,
		Started: parseTime(m.Started), Version: m.Version, Title: m.Title, Parent: m.Parent,
	}
	_ = json.Unmarshal(m.ForkPoint, &out.ForkPoint) // another form of it says nothing to us
	return out
}

// after is the meta that the row makes of the one before it: a title stays
// until there is another.
func (m *metaWire) after(before Meta) Meta {
	out := m.meta()
	if out.Title == "" {
		out.Title = before.Title
	}
	return out
}

// parseTime reads a time; one in another form is the zero time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// encode writes v as a row. What is encoded here always can be.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding a row: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func metaRow(m Meta) []byte {
	w := metaWire{
		ID: m.ID, Cwd: m.Cwd, Provider: m.Provider, Model: m.Model, Reasoning: m.Reasoning,
		Started: m.Started.Format(time.RFC3339), Version: m.Version, Title: m.Title, Parent: m.Parent,
	}
	if m.Parent != "" {
		w.ForkPoint = encode(m.ForkPoint)
	}
	return encode(row{Type: rowMeta, Meta: &w})
}

func messageRow(m message.Message, b blobs) ([]byte, error) {
	w, err := encodeMessage(m, b)
	if err != nil {
		return nil, err
	}
	return encode(row{Type: rowMessage, Message: w}), nil
}

func compactRow(summary message.Message, keep int, b blobs) ([]byte, error) {
	w, err := encodeMessage(summary, b)
	if err != nil {
		return nil, err
	}
	return encode(row{Type: rowCompact, Message: w, Keep: &keep}), nil
}

func renameRow(title string) []byte { return encode(row{Type: rowRename, Title: &title}) }

func activatedRow(names []string) []byte {
	if names == nil {
		names = []string{}
	}
	return encode(struct {
		Type  string   `json:"type"`
		Tools []string `json:"tools"`
	}{rowActivated, names})
}

func usageRow(turn, cumulative message.Usage) []byte {
	return encode(row{Type: rowUsage, Usage: usageToWire(turn), Cumulative: usageToWire(cumulative)})
}

func usageToWire(u message.Usage) *usageWire {
	return &usageWire{
		Input: u.Input, Output: u.Output, Reasoning: u.Reasoning,
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.CostUSD,
	}
}

func (u *usageWire) usage() message.Usage {
	if u == nil {
		return message.Usage{}
	}
	return message.Usage{
		Known: *u != usageWire{}, Input: u.Input, Output: u.Output, Reasoning: u.Reasoning,
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.CostUSD,
	}
}
