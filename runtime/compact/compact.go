// Package compact shortens a transcript that has become long: a model call
// writes a summary of its older part, which takes that part's place, and the
// last exchanges stay as they are.
//
//	if auto.Due(contextTokens, messages) {
//		r, err := compact.Run(ctx, compact.Options{…}, compact.Threshold, messages)
//		if err == nil {
//			err = session.Compact(r.Summary, r.Keep)
//			messages = r.Messages
//		}
//		auto.Done(compact.Threshold, messages)
//	}
//
// A call is never parted from its results. Where the model cannot be asked and
// the transcript no longer fits, a plain list of what the user asked for takes
// the summary's place. [Auto] keeps a run from shortening in circles.
package compact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

//go:embed prompt.md
var prompt string

// A Reason says why a transcript is shortened.
type Reason string

// The reasons.
const (
	Manual    Reason = "manual"    // the user asked for it
	Threshold Reason = "threshold" // the window is nearly full
	Overflow  Reason = "overflow"  // the provider refused the request as too large
)

// DefaultKeep is the default of Options.Keep.
const DefaultKeep = 2

// Options says how to shorten.
type Options struct {
	Client model.Client
	Model  string
	// Window is the size of the model's window in tokens; 0 where it is not
	// known.
	Window int
	// Context is what the transcript took at the last model call, in tokens, as
	// the provider counted; 0 leaves it to an estimate.
	Context int
	// Keep is how many of the last exchanges stay, where they fit; 0 stands for
	// DefaultKeep. An exchange is a message of the user with all that followed.
	Keep int
	// Focus is what the user wants the summary to dwell on, or empty.
	Focus string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// A Result is a shortened transcript.
type Result struct {
	// Messages is the transcript from now on: Summary, and the last Keep
	// messages of the old one.
	Messages []message.Message
	Summary  message.Message
	Keep     int
	// Text is what the model wrote, for the user.
	Text string
	// Usage is what the model call took.
	Usage message.Usage
	// Before and After are the sizes of the transcript in tokens, estimated.
	Before, After int
	// Cause, if not nil, is why the model could not be asked: Text is a plain
	// list then.
	Cause error
}

// ErrNothing says that there is nothing to shorten: the transcript is its last
// exchanges, or would not become smaller.
var ErrNothing = errors.New("there is nothing to compact: the conversation is too short")

// A TooLargeError says that a transcript does not fit and cannot be shortened
// further.
type TooLargeError struct {
	Tokens, Window int // Window is 0 where it is not known
	Cause          error
}

func (e *TooLargeError) Error() string {
	room := "than the model takes"
	if e.Window > 0 {
		room = fmt.Sprintf("than the %d that the model takes", e.Window)
	}
	return fmt.Sprintf("the conversation is about %d tokens, more %s, and cannot be shortened further; /clear it, or choose a model with a larger window", e.Tokens, room)
}

// Unwrap returns the cause.
func (e *TooLargeError) Unwrap() error { return e.Cause }

// Run shortens messages, which it leaves as they are. It returns ErrNothing, a
// *TooLargeError, what the model call failed with, or ctx.Err(); with an error
// the result has no more than the Usage that was spent.
//
// A failure of the model call is an error as long as the transcript still
// fits. Where it does not, the result is a plain one, with Cause.
func Run(ctx context.Context, o Options, why Reason, messages []message.Message) (Result, error) {
	s := newSizes(o, messages)
	cut := s.cut(o, why)
	if cut == 0 {
		if why == Overflow {
			return Result{}, &TooLargeError{Tokens: s.total(), Window: o.Window}
		}
		return Result{}, ErrNothing
	}
	head, tail := messages[:cut], messages[cut:]
	r := Result{Keep: len(tail), Before: s.total()}
	text, usage, err := summarise(ctx, o, head)
	r.Text, r.Usage = text, usage
	if err != nil {
		if ctx.Err() != nil {
			return Result{Usage: usage}, ctx.Err()
		}
		if !s.mustFit(o, why) {
			return Result{Usage: usage}, fmt.Errorf("writing the summary: %w", err)
		}
		r.Text, r.Cause = plain(head), err
	}
	r.Summary = o.summary(r.Text, head, len(tail) == 0)
	r.Messages = append([]message.Message{r.Summary}, tail...)
	r.After = s.scaled(r.Messages)
	if r.After >= r.Before {
		if s.mustFit(o, why) {
			return Result{Usage: usage}, &TooLargeError{Tokens: r.Before, Window: o.Window, Cause: r.Cause}
		}
		return Result{Usage: usage}, ErrNothing
	}
	return r, nil
}

const heading = "[The earlier part of this conversation was replaced by this summary of it.]\n\n"

// maxRequest bounds, in bytes, what is repeated of the user's last request.
const maxRequest = 8 << 10

// summary is the message that stands for the older part. Where nothing of the
// last exchange stays, what the user asked for last is in it word for word.
func (o Options) summary(text string, head []message.Message, last bool) message.Message {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	text = heading + text
	if request := lastRequest(head); last && request != "" {
		text += "\n\nThe user's last request, word for word; go on with it:\n\n" + clip(request, maxRequest)
	}
	return message.Message{Role: message.User, Content: []message.Block{message.Text{Text: text}}, Time: now()}
}

func lastRequest(messages []message.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if text := messages[i].Text(); messages[i].Role == message.User && !strings.HasPrefix(text, heading) {
			return text
		}
	}
	return ""
}

// attempts is how often the summary is asked for with less and less of the
// transcript where the request is too large.
const attempts = 3

// summarise asks the model.
func summarise(ctx context.Context, o Options, head []message.Message) (string, message.Usage, error) {
	var spent message.Usage
	budget := requestBudget(o.Window)
	for attempt := 1; ; attempt++ {
		resp, err := o.Client.Generate(ctx, o.request(head, budget), func(model.Chunk) {})
		spent = spent.Add(resp.Usage)
		var failed *model.Error
		if errors.As(err, &failed) && failed.Kind == model.KindOverflow && attempt < attempts {
			budget /= 2
			continue
		}
		if err != nil {
			return "", spent, err
		}
		text := strings.TrimSpace(resp.Message.Text())
		if text == "" {
			return "", spent, errors.New("the model wrote nothing")
		}
		return clip(text, maxSummary), spent, nil
	}
}

// maxSummary bounds a summary in bytes, and maxSummaryTokens what is asked for.
const (
	maxSummary       = 32 << 10
	maxSummaryTokens = 4096
)

func (o Options) request(head []message.Message, budget int) model.Request {
	text := "<transcript>\n" + render(head, budget) + "\n</transcript>\n\nWrite the summary now."
	if focus := strings.TrimSpace(o.Focus); focus != "" {
		text += " The user asks to dwell on this: " + focus
	}
	tokens := maxSummaryTokens
	if o.Window > 0 {
		tokens = min(tokens, max(o.Window/8, 256))
	}
	return model.Request{
		Model: o.Model, System: prompt, MaxTokens: tokens,
		Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: text}}}},
	}
}
