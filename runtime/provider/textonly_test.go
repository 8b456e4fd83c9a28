package provider_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
)

// seen is a client that keeps what it was asked.
type seen struct{ messages []message.Message }

func (s *seen) Generate(_ context.Context, req model.Request, _ func(model.Chunk)) (model.Response, error) {
	s.messages = req.Messages
	return model.Response{}, nil
}

func TestTextOnlyTellsOfImages(t *testing.T) {
	image := message.Image{MIMEType: "image/png", Data: make([]byte, 7)}
	transcript := []message.Message{
		{Role: message.User, Content: []message.Block{message.Text{Text: "look"}, image}},
		{Role: message.Tool, Content: []message.Block{message.ToolResult{CallID: "1", Content: []message.Block{image}}}},
	}
	words := message.Text{Text: "[an image (image/png, 7 bytes) is left out: this model takes none]"}
	want := []message.Message{
		{Role: message.User, Content: []message.Block{message.Text{Text: "look"}, words}},
		{Role: message.Tool, Content: []message.Block{message.ToolResult{CallID: "1", Content: []message.Block{words}}}},
	}
	var s seen
	if _, err := provider.TextOnly(&s).Generate(t.Context(), model.Request{Messages: transcript}, nil); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.messages, want) {
		t.Errorf("the model was shown %v", s.messages)
	}
	if transcript[0].Content[1].(message.Image).MIMEType != "image/png" {
		t.Error("the transcript was changed")
	}
}
