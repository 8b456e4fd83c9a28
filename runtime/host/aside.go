package host

import (
	"context"

	"github.com/patriceckhart/zot/runtime/model"
)

// Aside asks the model about the conversation without becoming a part of it:
// nothing but its tokens is recorded, and no tool can be called. onText takes the answer as it
// comes.
func (h *Host) Aside(ctx context.Context, question string, onText func(string)) error {
	conn, err := h.connection()
	if err != nil {
		return err
	}
	h.WaitReady(ctx) // what is prepared now stays for the prompts to come
	system, err := h.prompt.get(ctx)
	if err != nil {
		return err
	}
	resp, err := conn.Client.Generate(ctx, model.Request{
		Model: conn.ID, System: system, Reasoning: conn.Reasoning,
		Messages: append(h.agent.Transcript(), Prompt{Text: question}.message()),
	}, func(c model.Chunk) {
		if c.Text != "" {
			onText(c.Text)
		}
	})
	h.agent.Spend(resp.Usage)
	return err
}
