package host

import "github.com/patriceckhart/zot/runtime/message"

// estimate guesses the tokens of a transcript: a quarter of its bytes, and a
// thousand for a picture.
func estimate(messages []message.Message) int {
	bytes, pictures := 0, 0
	var count func(blocks []message.Block)
	count = func(blocks []message.Block) {
		for _, b := range blocks {
			switch b := b.(type) {
			case message.Text:
				bytes += len(b.Text)
			case message.Reasoning:
				bytes += len(b.Summary)
			case message.ToolCall:
				bytes += len(b.Name) + len(b.Args)
			case message.ToolResult:
				count(b.Content)
			case message.Image:
				pictures++
			}
		}
	}
	for _, m := range messages {
		count(m.Content)
	}
	return bytes/4 + 1000*pictures
}
