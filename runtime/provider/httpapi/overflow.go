package httpapi

import (
	"net/http"
	"regexp"
	"strings"
)

// A request that is larger than the model's window is refused in as many ways
// as there are servers. Three signals are looked for: a code that says it, a
// phrase that says it, and, where the status leaves it open, words about size
// together with words about tokens.
var (
	overflowCodes = []string{
		"context_length_exceeded", "context_window_exceeded", "exceed_context_size_error", "model_context_window_exceeded",
		"string_above_max_length", "tokens_limit_reached", "request_too_large", "input_too_long",
	}
	overflowPhrase = regexp.MustCompile(`(?i)context[ _-]?(length|window|size|limit)|maximum context|prompt (is )?too long|` +
		`(input|prompt|request|conversation|messages?) (is|are|was) too (long|large)|too many (input )?tokens|` +
		`request too large|reduce the (length|size)|longer than the model|max_model_len|max_seq_len|max_prompt_length`)
	sizeWord   = regexp.MustCompile(`(?i)exceed|too (long|many|large|big)|maximum|limit|(larger|longer|greater|more) than|overflow|does not fit`)
	subject    = regexp.MustCompile(`(?i)\btokens?\b|\bcontext\b|\bprompt\b`)
	outputOnly = regexp.MustCompile(`(?i)max_tokens|max_completion_tokens|max_output_tokens|(completion|output) tokens`)
	perMinute  = regexp.MustCompile(`(?i)per (minute|min|hour|day|second)|\b[TR]P[MDS]\b`)
)

func isOverflow(status int, w words) bool {
	if codeIs(w, overflowCodes...) || status == http.StatusRequestEntityTooLarge {
		return true
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound {
		return false
	}
	if status == http.StatusTooManyRequests || perMinute.MatchString(w.text) {
		// "Request too large … tokens per minute": no wait makes it smaller.
		return strings.Contains(strings.ToLower(w.text), "request too large")
	}
	if overflowPhrase.MatchString(w.text) {
		return true
	}
	return subject.MatchString(w.text) && sizeWord.MatchString(w.text) && !outputOnly.MatchString(w.text)
}
