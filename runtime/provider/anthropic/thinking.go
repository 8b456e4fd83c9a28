package anthropic

import (
	"regexp"

	"github.com/patriceckhart/zot/runtime/model"
)

// thinking is how a request asks the model to think. Older models are given a
// number of tokens, newer ones decide for themselves by an effort.
type thinking struct {
	Type         string `json:"type"` // enabled, adaptive or disabled
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	// Display makes newer models show a summary of their thoughts.
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

// budgeted are the models that want a number: the generations up to 4.5. A
// model that is judged wrongly here refuses, and is asked the other way.
var budgeted = regexp.MustCompile(`claude-3|claude-[a-z]+-4(-[015])?(-\d{8})?$|claude-[a-z]+-4[.](1|5)`)

// budgets are tokens for a reasoning level.
var budgets = map[string]int{"minimal": 1024, "low": 4096, "medium": 10000, "high": 20000, "xhigh": 32000, "max": 60000}

// think asks for the reasoning level. Without one the model's own default
// holds.
func (c *Client) think(r *request, req model.Request) {
	switch req.Reasoning {
	case "":
		return
	case "off":
		r.Thinking = &thinking{Type: "disabled"}
		return
	}
	if budgeted.MatchString(req.Model) != c.swapThinking.Load() {
		// The budget is part of the answer's tokens, and some must be left.
		n := min(budgets[req.Reasoning], r.MaxTokens/2)
		if n < 1024 || unsigned(r.Messages) {
			return
		}
		r.Thinking = &thinking{Type: "enabled", BudgetTokens: n}
	} else {
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if c.noDisplay.Load() {
			r.Thinking.Display = ""
		}
		r.OutputConfig = &outputConfig{c.effort(req.Reasoning)}
	}
	r.Temperature = nil // not accepted together with thinking
}

func (c *Client) effort(level string) string {
	if word, ok := c.opts.Levels[level]; ok {
		return word
	}
	if level == "minimal" {
		return "low"
	}
	return level
}

// unsigned reports whether the model is in the middle of calls that it began
// without thinking, or under another model: with a budget, the API wants the
// answer that made the calls to begin with a thought, and there is none.
func unsigned(msgs []turn) bool {
	n := len(msgs)
	if n < 2 || msgs[n-1].Content[0].Type != "tool_result" {
		return false
	}
	first := msgs[n-2].Content[0].Type
	return first != "thinking" && first != "redacted_thinking"
}
