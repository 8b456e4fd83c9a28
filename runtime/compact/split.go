package compact

import (
	"github.com/patriceckhart/zot/runtime/message"
)

// Estimates: a token is about four bytes of text, and a picture about this many
// tokens.
const (
	bytesPerToken  = 4
	tokensPerImage = 1500
	perMessage     = 8
)

// Estimate is about how many tokens messages take. A provider's own count,
// where there is one, is better.
func Estimate(messages []message.Message) int {
	n := 0
	for _, m := range messages {
		n += estimate(m)
	}
	return n
}

func estimate(m message.Message) int { return perMessage + estimateBlocks(m.Content) }

func estimateBlocks(content []message.Block) int {
	n := 0
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			n += tokens(b.Text)
		case message.Image:
			n += tokensPerImage
		case message.Reasoning:
			n += max(tokens(b.Summary), tokens(b.Encrypted))
		case message.ToolCall:
			n += perMessage + tokens(b.Name) + (len(b.Args)+bytesPerToken-1)/bytesPerToken
		case message.ToolResult:
			n += perMessage + estimateBlocks(b.Content)
		}
	}
	return n
}

func tokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// sizes knows what each message takes, in tokens as the provider counts where
// it has counted.
type sizes struct {
	messages []message.Message
	suffix   []int   // suffix[i] is the size of the messages from i on
	factor   float64 // provider's tokens for one of the estimate
}

func newSizes(o Options, messages []message.Message) *sizes {
	s := &sizes{messages: messages, factor: 1}
	if total := Estimate(messages); o.Context > 0 && total > 0 {
		s.factor = min(max(float64(o.Context)/float64(total), 0.5), 3)
	}
	s.suffix = make([]int, len(messages)+1)
	for i := len(messages) - 1; i >= 0; i-- {
		s.suffix[i] = s.suffix[i+1] + s.scale(estimate(messages[i]))
	}
	return s
}

func (s *sizes) scale(n int) int { return int(float64(n)*s.factor + 0.5) }

func (s *sizes) scaled(messages []message.Message) int {
	n := 0
	for _, m := range messages {
		n += s.scale(estimate(m))
	}
	return n
}

func (s *sizes) total() int { return s.from(0) }

// from is the size of the messages from i on.
func (s *sizes) from(i int) int { return s.suffix[i] }

// mustFit reports whether the transcript cannot be used as it is.
func (s *sizes) mustFit(o Options, why Reason) bool {
	return why == Overflow || why == Threshold && o.Window > 0 && max(s.total(), o.Context) >= o.Window
}

// minHead is how many tokens the older part must have to be worth a summary
// that the user did not ask for.
const minHead = 400

// cut returns the index of the first message that stays: the start of the last
// exchanges, as many as were asked for and fit. It is 0 where there is nothing
// to cut off, and len(messages) where not even the last step fits.
func (s *sizes) cut(o Options, why Reason) int {
	keep := o.Keep
	if keep <= 0 {
		keep = DefaultKeep
	}
	limit := s.tailLimit(o, why)
	for ; keep >= 1; keep-- {
		start := s.exchange(keep)
		if s.worth(start, why) && s.from(start) <= limit {
			return start
		}
	}
	if why == Manual {
		return 0
	}
	return s.within(limit, why)
}

// tailLimit is how much may stay, in tokens.
func (s *sizes) tailLimit(o Options, why Reason) int {
	switch {
	case o.Window > 0:
		return o.Window * 2 / 5
	case why == Overflow:
		return s.total() / 2
	}
	return s.total()
}

// exchange is the index where the last n exchanges begin; 0 where there are
// not that many.
func (s *sizes) exchange(n int) int {
	for i := len(s.messages) - 1; i >= 0; i-- {
		if s.messages[i].Role != message.User {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	return 0
}

// within is the first index inside an exchange from which on the messages fit
// the limit. Results stay with their calls.
func (s *sizes) within(limit int, why Reason) int {
	for i := 1; i < len(s.messages); i++ {
		if s.messages[i].Role != message.Tool && s.worth(i, why) && s.from(i) <= limit {
			return i
		}
	}
	if end := len(s.messages); s.worth(end, why) {
		return end
	}
	return 0
}

// worth reports whether the messages before i are worth a summary.
func (s *sizes) worth(i int, why Reason) bool {
	return i > 0 && (why == Manual || s.total()-s.from(i) >= minHead)
}
