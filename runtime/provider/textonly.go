package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// TextOnly is a client for a model that takes no images: in the place of each
// one it is told what was left out. The transcript keeps them, so that another
// model can be shown them later.
func TextOnly(c model.Client) model.Client { return textOnly{c} }

type textOnly struct{ model.Client }

// Generate implements [model.Client].
func (t textOnly) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	req.Messages = slices.Clone(req.Messages)
	for i := range req.Messages {
		req.Messages[i].Content = withoutImages(req.Messages[i].Content)
	}
	return t.Client.Generate(ctx, req, emit)
}

// withoutImages returns content with words in place of images; content itself
// stays as it is.
func withoutImages(content []message.Block) []message.Block {
	out := make([]message.Block, len(content))
	for i, b := range content {
		switch b := b.(type) {
		case message.Image:
			out[i] = message.Text{Text: fmt.Sprintf("[an image (%s, %d bytes) is left out: this model takes none]", b.MIMEType, len(b.Data))}
		case message.ToolResult:
			b.Content = withoutImages(b.Content)
			out[i] = b
		default:
			out[i] = b
		}
	}
	return out
}
