package wire

import (
	"encoding/json"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/message"
)

// Message translates one message of a transcript.
func Message(m message.Message) rpcproto.Message {
	return rpcproto.Message{Role: string(m.Role), Content: Blocks(m.Content), Time: seconds(m.Time)}
}

// Messages translates a transcript; its result is never nil.
func Messages(ms []message.Message) []rpcproto.Message {
	out := make([]rpcproto.Message, 0, len(ms))
	for _, m := range ms {
		out = append(out, Message(m))
	}
	return out
}

// Blocks translates content; its result is never nil. Reasoning is left out:
// the published protocol has no block for it, and a client that follows the
// thinking has the reasoning_delta events.
func Blocks(content []message.Block) []rpcproto.Block {
	out := make([]rpcproto.Block, 0, len(content))
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			out = append(out, rpcproto.Block{Type: rpcproto.BlockText, Text: b.Text, Format: b.Format})
		case message.Image:
			out = append(out, rpcproto.Block{Type: rpcproto.BlockImage, MIMEType: b.MIMEType, Bytes: len(b.Data)})
		case message.ToolCall:
			out = append(out, rpcproto.Block{Type: rpcproto.BlockToolCall, ID: b.ID, Name: b.Name, Args: object(b.Args)})
		case message.ToolResult:
			out = append(out, rpcproto.Block{
				Type: rpcproto.BlockToolResult, CallID: b.CallID,
				IsError: b.IsError, Content: Blocks(b.Content), Extension: b.Extension,
			})
		}
	}
	return out
}

// UsageCount translates u. Counts that the provider did not report are zero.
func UsageCount(u message.Usage) rpcproto.UsageCount {
	if !u.Known {
		return rpcproto.UsageCount{}
	}
	return rpcproto.UsageCount{
		Input: u.Input, Output: u.Output, Reasoning: u.Reasoning,
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.CostUSD,
	}
}

// UserMessage translates the images of a prompt, text first.
func UserMessage(text string, images []rpcproto.Image) []message.Block {
	var out []message.Block
	if text != "" {
		out = append(out, message.Text{Text: text})
	}
	for _, img := range images {
		out = append(out, message.Image{MIMEType: img.MIMEType, Data: img.Data})
	}
	return out
}

// object returns args, or an empty object in its place.
func object(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// list returns s, or an empty list that JSON writes as [] and not as null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
