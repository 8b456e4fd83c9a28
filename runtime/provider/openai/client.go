// Package openai is the client of every server that speaks OpenAI's chat
// completions: OpenAI, the many compatible services, and local servers.
//
//	c := openai.New(openai.Options{
//		Provider: "ollama",
//		BaseURL:  "http://127.0.0.1:11434/v1",
//		HTTP:     http.DefaultClient,
//	})
//	resp, err := c.Generate(ctx, req, emit)
//
// Requests are built and sent with OpenAI's own Go library; nothing of it shows
// outside of this package. The way back is our own: compatible servers take
// liberties with the stream that the library drops, merges or panics on.
// stream.go and chunk.go read it.
//
// # When an answer is whole
//
// An answer is whole when the server says so: by a finish reason, by the [DONE]
// event, or by the closing usage event. A stream that ends without any of the
// three was cut, however complete its text looks, and is an error that keeps
// the text. A call in an answer that is not whole never runs, and neither does
// one whose arguments are not a complete JSON object.
package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/option"
	"github.com/openai/openai-go/packages/ssestream"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/history"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

// Options say where a client sends its calls. Provider and BaseURL are needed.
type Options struct {
	Provider string // named in errors
	BaseURL  string // "https://api.openai.com/v1", with or without a slash at the end
	APIKey   string // sent as a bearer token; empty sends none
	Headers  map[string]string
	// AuthRemedy says in an error how to give a credential.
	AuthRemedy string
	UserAgent  string // "zot" where empty
	HTTP       *http.Client
	Retry      httpapi.Retry
	Dialect    Dialect
	// Cost prices a call in US dollars where the server does not; nil prices
	// nothing.
	Cost func(model string, u message.Usage) float64
}

// A Client makes calls of one server.
type Client struct {
	opts Options
	chat sdk.ChatService

	// What the server turned out not to know: learnt from its refusal, once.
	noStreamOptions atomic.Bool
	swapMaxTokens   atomic.Bool
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
	return &Client{opts: o, chat: sdk.NewChatService(requestOptions(o)...)}
}

func requestOptions(o Options) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(o.BaseURL, "/") + "/"),
		option.WithHTTPClient(o.HTTP),
		option.WithMaxRetries(0), // httpapi.Retry shows its waits and bounds them
		option.WithMiddleware(plainHeaders(o.UserAgent)),
	}
	if o.APIKey != "" {
		opts = append(opts, option.WithAPIKey(o.APIKey))
	}
	for k, v := range o.Headers {
		opts = append(opts, option.WithHeader(k, v))
	}
	return opts
}

// plainHeaders takes out what the library tells of this machine.
func plainHeaders(agent string) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		for k := range req.Header {
			if strings.HasPrefix(k, "X-Stainless-") {
				delete(req.Header, k)
			}
		}
		req.Header.Set("User-Agent", agent)
		return next(req)
	}
}

// Generate makes one call; see [model.Client].
func (c *Client) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	if emit == nil {
		emit = func(model.Chunk) {}
	}
	req.Messages = history.Repair(req.Messages)
	origin := c.origin(req)
	return c.opts.Retry.Do(ctx, emit, func(emit func(model.Chunk)) (model.Response, error) {
		resp, err := c.attempt(ctx, origin, req, emit)
		if c.learn(err) {
			resp, err = c.attempt(ctx, origin, req, emit)
		}
		return resp, err
	})
}

func (c *Client) origin(req model.Request) httpapi.Origin {
	return httpapi.Origin{
		Provider:   c.opts.Provider,
		Model:      req.Model,
		BaseURL:    c.opts.BaseURL,
		AuthRemedy: c.opts.AuthRemedy,
		Secrets:    c.secrets(),
		Tools:      toolNames(c.placeTools(req).top),
		Now:        c.opts.Retry.Now,
	}
}

// secrets are the key and the header values that are long enough to be one.
func (c *Client) secrets() []string {
	secrets := []string{c.opts.APIKey}
	for _, v := range c.opts.Headers {
		if len(v) >= 16 {
			secrets = append(secrets, v)
		}
	}
	return secrets
}

// learn reports whether the failure is the server's not knowing a field that
// we add on our own account, and leaves it out from now on.
func (c *Client) learn(err error) bool {
	var f *httpapi.Failure
	if !errors.As(err, &f) || f.Kind != model.KindBadRequest || f.Tool != "" {
		return false
	}
	switch {
	case strings.Contains(f.Message, "stream_options"):
		return !c.noStreamOptions.Swap(true)
	case strings.Contains(f.Message, c.maxTokensField()):
		return !c.swapMaxTokens.Swap(true)
	}
	return false
}

// attempt makes the call once.
func (c *Client) attempt(ctx context.Context, o httpapi.Origin, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	b := answer.New(emit)
	body, err := c.send(ctx, o, req)
	if err != nil {
		return model.Response{Message: b.Message(answer.Broken)}, o.FailureOf(ctx, err)
	}
	defer body.Close()
	s := stream{origin: o, build: b}
	err = o.FailureOf(ctx, s.read(body))
	return b.Response(s.end, s.stop, answer.Price(s.usage, req.Model, c.opts.Cost), err)
}

// send posts the request and returns the decoder of the event stream that it
// was answered with.
func (c *Client) send(ctx context.Context, o httpapi.Origin, req model.Request) (ssestream.Decoder, error) {
	var resp *http.Response
	st := c.chat.Completions.NewStreaming(ctx, c.params(req),
		option.WithResponseInto(&resp), option.WithMiddleware(eventStreamOnly(o)))
	if err := st.Err(); err != nil {
		return nil, err
	}
	return ssestream.NewDecoder(resp), nil
}
