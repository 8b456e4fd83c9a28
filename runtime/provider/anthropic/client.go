// Package anthropic is the client of Anthropic's Messages API.
//
//	c := anthropic.New(anthropic.Options{
//		Provider: "anthropic",
//		BaseURL:  "https://api.anthropic.com/v1",
//		APIKey:   key,
//	})
//
// Against the compatible endpoint of the same service it has the prompt cache,
// thinking that is handed back with its signature, failed results marked as
// such, and images inside of results.
//
// An answer is whole when a stop reason or message_stop came; anything else was
// cut.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/history"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

// Version is the API's, as the header Anthropic-Version must state it.
const Version = "2023-06-01"

// defaultMaxTokens bounds an answer whose model's own bound is not known. The
// API demands a bound.
const defaultMaxTokens = 32000

// Options say where a client sends its calls. Provider and BaseURL are needed.
type Options struct {
	Provider   string // named in errors
	BaseURL    string // with the version: "https://api.anthropic.com/v1"
	APIKey     string
	Headers    map[string]string
	AuthRemedy string // says in an error how to give a credential
	UserAgent  string // "zot" where empty
	HTTP       *http.Client
	Retry      httpapi.Retry
	// MaxTokens is how much the model can answer at once, 0 where unknown; nil
	// knows none.
	MaxTokens func(model string) int
	// Levels translates reasoning levels to the API's effort words.
	Levels map[string]string
	// Cost prices a call in US dollars; nil prices nothing.
	Cost func(model string, u message.Usage) float64
}

// A Client makes calls of one server.
type Client struct {
	opts Options

	// What the server refused, learnt once.
	noDisplay    atomic.Bool // thinking has no "display" there
	swapThinking atomic.Bool // the model wants the other way to ask for thinking
}

var _ model.Client = (*Client)(nil)

// New returns a client. It reads no environment.
func New(o Options) *Client {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	if o.UserAgent == "" {
		o.UserAgent = "zot"
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return &Client{opts: o}
}

// Generate makes one call; see [model.Client].
func (c *Client) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	if emit == nil {
		emit = func(model.Chunk) {}
	}
	req.Messages = history.Repair(req.Messages)
	origin := httpapi.Origin{
		Provider: c.opts.Provider, Model: req.Model, BaseURL: c.opts.BaseURL, AuthRemedy: c.opts.AuthRemedy,
		Secrets: []string{c.opts.APIKey}, Tools: toolNames(req), Now: c.opts.Retry.Now,
	}
	return c.opts.Retry.Do(ctx, emit, func(emit func(model.Chunk)) (model.Response, error) {
		resp, err := c.attempt(ctx, origin, req, emit)
		for range 2 {
			if !c.learn(err) {
				break
			}
			resp, err = c.attempt(ctx, origin, req, emit)
		}
		return resp, err
	})
}

func toolNames(req model.Request) []string {
	var names []string
	for _, t := range tools(req) {
		names = append(names, t.Name)
	}
	return names
}

// learn reports whether the failure is about the way we ask for thinking, of
// which models know one or the other, and changes it from now on.
func (c *Client) learn(err error) bool {
	var f *httpapi.Failure
	if !errors.As(err, &f) || f.Kind != model.KindBadRequest {
		return false
	}
	switch msg := f.Message; {
	case strings.Contains(msg, "thinking") && strings.Contains(msg, "display"):
		return !c.noDisplay.Swap(true)
	case strings.Contains(msg, "adaptive"), strings.Contains(msg, "budget_tokens"), strings.Contains(msg, "thinking.type"), strings.Contains(msg, "output_config"):
		return !c.swapThinking.Swap(true)
	}
	return false
}

func (c *Client) header() http.Header {
	h := http.Header{}
	h.Set("User-Agent", c.opts.UserAgent)
	h.Set("Anthropic-Version", Version)
	if c.opts.APIKey != "" {
		h.Set("X-Api-Key", c.opts.APIKey)
	}
	for k, v := range c.opts.Headers {
		h.Set(k, v)
	}
	return h
}

// attempt makes the call once.
func (c *Client) attempt(ctx context.Context, o httpapi.Origin, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	b := answer.New(emit)
	body, err := httpapi.Post(ctx, c.opts.HTTP, o, c.opts.BaseURL+"/messages", c.header(), c.request(req), isAnswer)
	if err != nil {
		return model.Response{Message: b.Message(answer.Broken)}, err
	}
	defer body.Close()
	s := stream{origin: o, build: b}
	err = o.FailureOf(ctx, s.read(body))
	return b.Response(s.end, s.stop, answer.Price(s.usage(), req.Model, c.opts.Cost), err)
}
