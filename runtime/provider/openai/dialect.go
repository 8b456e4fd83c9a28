package openai

// A Dialect says how a server departs from OpenAI's own API. The zero value
// is what compatible servers have in common.
type Dialect struct {
	// MaxTokens is the request field that bounds the answer: "max_tokens"
	// where empty. A server that refuses the one is asked with the other.
	MaxTokens string
	// Effort is how a reasoning level is asked for.
	Effort Effort
	// Levels translates levels of model.Request.Reasoning to the server's
	// words; a level that it lacks is sent as it is, one that it maps to ""
	// not at all.
	Levels map[string]string
	// ReasoningField is the field of assistant messages in which the server
	// wants to see its reasoning again; empty sends none back.
	ReasoningField string
	// DeferredInPlace declares deferred tools behind the result that activated
	// them instead of at the top, so that the prompt before stays cached.
	DeferredInPlace bool
}

// Effort is a way to ask for a reasoning level.
type Effort string

// The ways.
const (
	// EffortField is OpenAI's reasoning_effort.
	EffortField Effort = ""
	// EffortObject is OpenRouter's reasoning object.
	EffortObject Effort = "object"
	// EffortNone asks for nothing: the server has no such setting.
	EffortNone Effort = "none"
)

// level is the server's word for a reasoning level; empty sends none. What a
// server lacks at either end is replaced by its nearest.
func (d Dialect) level(reasoning string) string {
	if word, ok := d.Levels[reasoning]; ok {
		return word
	}
	switch reasoning {
	case "off":
		return ""
	case "max":
		return "xhigh"
	}
	return reasoning
}
