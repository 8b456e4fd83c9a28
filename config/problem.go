package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

// A Problem is a fault in a layer. What it is about has no effect; all else in
// the layer does.
type Problem struct {
	Layer Layer `json:"layer"`
	// Source is the file, the variable or the flag.
	Source string `json:"source"`
	// Pos is the place in a file; zero for other sources.
	Pos document.Pos `json:"pos,omitzero"`
	Key string       `json:"key,omitempty"` // name of the setting; may be empty
	// Code is the stable code of faults that are also the policy's business,
	// such as ZP063; else empty.
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`

	text []byte // of the file
}

// Error is the problem on one line: file:line:column: what; what to do.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(document.Place(p.Source, p.Pos) + ": " + p.Message)
	if p.Code != "" {
		b.WriteString(" (" + p.Code + ")")
	}
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Render shows the problem as a compiler does: its line of the file with a mark
// under the fault, and the remedy.
func (p Problem) Render() string {
	msg := p.Message
	if p.Code != "" {
		msg += " (" + p.Code + ")"
	}
	return schemas.Render(schemas.Problem{
		Line: p.Pos.Line, Column: p.Pos.Column, Message: msg, Remedy: p.Remedy,
	}, p.Source, p.text)
}

func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
