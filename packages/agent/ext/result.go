package ext

import (
	"encoding/base64"
	"encoding/json"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// A ToolResult is what a call of a tool gave.
type ToolResult struct {
	Content []ToolContent
	IsError bool
	// ActivateTools names deferred tools that the model sees from now on.
	ActivateTools []string
	// StructuredContent is any JSON, for programs rather than the model.
	StructuredContent json.RawMessage
	// Truncated is set in results of [Extension.CallTool] that were cut.
	Truncated bool
}

// ToolContent is one part of a result: Type "text" with Text, or Type "image"
// with MimeType and base64 Data.
type ToolContent struct {
	Type     string
	Text     string
	Format   string // "markdown", or empty for plain text
	MimeType string
	Data     string
}

// Text is a part of plain text.
func Text(s string) ToolContent { return ToolContent{Type: extproto.BlockText, Text: s} }

// Image is a picture that is base64 already.
func Image(mimeType, base64Data string) ToolContent {
	return ToolContent{Type: extproto.BlockImage, MimeType: mimeType, Data: base64Data}
}

// ImageBytes is a picture from its bytes.
func ImageBytes(mimeType string, data []byte) ToolContent {
	return Image(mimeType, base64.StdEncoding.EncodeToString(data))
}

// TextResult is a successful result of one text.
func TextResult(s string) ToolResult { return ToolResult{Content: []ToolContent{Text(s)}} }

// TextErrorResult is a failure; the model reads why.
func TextErrorResult(s string) ToolResult {
	return ToolResult{Content: []ToolContent{Text(s)}, IsError: true}
}

// MarkdownResult is a text that the user is shown as Markdown.
func MarkdownResult(s string) ToolResult {
	return ToolResult{Content: []ToolContent{{Type: extproto.BlockText, Text: s, Format: "markdown"}}}
}

func (r ToolResult) frame(id string) extproto.ToolResult {
	f := extproto.ToolResult{ID: id, Content: []extproto.Block{}, IsError: r.IsError,
		ActivateTools: r.ActivateTools, StructuredContent: r.StructuredContent}
	for _, c := range r.Content {
		f.Content = append(f.Content, extproto.Block{
			Type: c.Type, Text: c.Text, Format: c.Format, MIMEType: c.MimeType, Data: c.Data})
	}
	return f
}

func contentOf(blocks []extproto.Block) []ToolContent {
	out := make([]ToolContent, 0, len(blocks))
	for _, b := range blocks {
		out = append(out, ToolContent{Type: b.Type, Text: b.Text, Format: b.Format, MimeType: b.MIMEType, Data: b.Data})
	}
	return out
}
