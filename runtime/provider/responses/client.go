// Package responses is the client of OpenAI's Responses API, which some of its
// models speak only, and which hands encrypted reasoning back and forth.
//
//	c := responses.New(responses.Options{
//		Provider: "openai",
//		BaseURL:  "https://api.openai.com/v1",
//		APIKey:   key,
//	})
//
// Nothing is stored on the server: each request carries the whole transcript.
// An answer is whole when the response was reported completed or incomplete;
// anything else was cut.
package responses

import (
	"context"
	"net/http"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/history"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

// Options say where a client sends its calls. Provider and BaseURL are needed.
type Options struct {
	Provider   string // named in errors
	BaseURL    string // "https://api.openai.com/v1"
	APIKey     string // sent as a bearer token; empty sends none
	Headers    map[string]string
	AuthRemedy string // says in an error how to give a credential
	UserAgent  string // "zot" where empty
	HTTP       *http.Client
	Retry      httpapi.Retry
	// Levels translates reasoning levels to the server's effort words; one
	// that it maps to "" is not sent.
	Levels map[string]string
	// Cost prices a call in US dollars; nil prices nothing.
	Cost func(model string, u message.Usage) float64
}

// A Client makes calls of one server.
type Client struct{ opts Options }

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
	body := c.request(req)
	origin := httpapi.Origin{
		Provider: c.opts.Provider, Model: req.Model, BaseURL: c.opts.BaseURL, AuthRemedy: c.opts.AuthRemedy,
		Secrets: []string{c.opts.APIKey}, Tools: body.toolNames(), Now: c.opts.Retry.Now,
	}
	return c.opts.Retry.Do(ctx, emit, func(emit func(model.Chunk)) (model.Response, error) {
		return c.attempt(ctx, origin, body, emit)
	})
}

func (c *Client) header() http.Header {
	h := http.Header{}
	h.Set("User-Agent", c.opts.UserAgent)
	if c.opts.APIKey != "" {
		h.Set("Authorization", "Bearer "+c.opts.APIKey)
	}
	for k, v := range c.opts.Headers {
		h.Set(k, v)
	}
	return h
}

// attempt makes the call once.
func (c *Client) attempt(ctx context.Context, o httpapi.Origin, req request, emit func(model.Chunk)) (model.Response, error) {
	b := answer.New(emit)
	body, err := httpapi.Post(ctx, c.opts.HTTP, o, c.opts.BaseURL+"/responses", c.header(), req, isAnswer)
	if err != nil {
		return model.Response{Message: b.Message(answer.Broken)}, err
	}
	defer body.Close()
	s := stream{origin: o, build: b}
	err = o.FailureOf(ctx, s.read(body))
	return b.Response(s.end, s.stop, answer.Price(s.usage, req.Model, c.opts.Cost), err)
}
