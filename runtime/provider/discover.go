package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/runtime/provider/anthropic"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

// The bounds of a listing.
const (
	maxListing = 16 << 20 // bytes
	maxModels  = 5000
)

// Discover asks a service which models it has, with the credential that New
// would use. It makes one request without trying again; the caller keeps what
// it returns for as long as it sees fit, and bounds the wait with ctx.
func Discover(ctx context.Context, o Options) ([]Model, error) {
	r, err := newResolver(o)
	if err != nil {
		return nil, err
	}
	info, err := r.provider()
	if err != nil {
		return nil, err
	}
	key, _, stored, err := r.key(info)
	if err != nil {
		return nil, err
	}
	base, err := r.baseURL(info, Model{}, stored)
	if err != nil {
		return nil, err
	}
	info.API = orElse(o.API, info.API)
	base = versioned(info.API, base)
	if info.own(base) {
		o.HTTP.Insecure = false
	}
	hc, err := httpapi.NewClient(o.HTTP)
	if err != nil {
		return nil, refuse(info.ID, "%v", "", err)
	}
	defer hc.CloseIdleConnections()
	return list(ctx, hc, info, base, key, o.UserAgent)
}

func list(ctx context.Context, hc *http.Client, info Info, base, key, agent string) ([]Model, error) {
	origin := httpapi.Origin{Provider: info.ID, BaseURL: base, AuthRemedy: authRemedy(info), Secrets: []string{key}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models"+query(info.API), nil)
	if err != nil {
		return nil, refuse(info.ID, "%v", "check the base URL", err)
	}
	req.Header.Set("User-Agent", orElse(agent, "zot"))
	switch {
	case info.API == APIAnthropic:
		req.Header.Set("Anthropic-Version", anthropic.Version)
		req.Header.Set("X-Api-Key", key)
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := hc.Do(req)
	if err != nil {
		return nil, cause(origin.FailureOf(ctx, err))
	}
	if resp.StatusCode != http.StatusOK {
		return nil, origin.Refused(resp).Cause()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxListing+1))
	if err != nil {
		return nil, cause(origin.FailureOf(ctx, err))
	}
	if len(data) > maxListing {
		return nil, origin.Protocol("the list of models is longer than %d bytes", maxListing).Cause()
	}
	models, err := parseListing(data)
	if err != nil {
		return nil, origin.Protocol("the list of models is not one: %s", httpapi.Excerpt(data)).Cause()
	}
	for i := range models {
		models[i].Provider = info.ID
		if info.Local {
			models[i].Price = &Price{}
		}
	}
	return models, nil
}

// query asks for all models at once where the service would page.
func query(api API) string {
	if api == APIAnthropic {
		return "?limit=1000"
	}
	return ""
}

// cause strips what only a retry needs from a failure.
func cause(err error) error {
	if f, ok := err.(*httpapi.Failure); ok {
		return f.Cause()
	}
	return err
}

// listed is a model as the various servers describe one.
type listed struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	DisplayName   string          `json:"display_name"`
	ContextLength float64         `json:"context_length"`     // OpenRouter, Together
	ContextWindow float64         `json:"context_window"`     // Groq
	MaxContext    float64         `json:"max_context_length"` // LM Studio, Mistral
	MaxModelLen   float64         `json:"max_model_len"`      // vLLM
	MaxOutput     float64         `json:"max_completion_tokens"`
	Pricing       json.RawMessage `json:"pricing"`
	Parameters    []string        `json:"supported_parameters"`
	Meta          struct {
		Context float64 `json:"n_ctx"` // llama.cpp
	} `json:"meta"`
	Top struct {
		MaxOutput float64 `json:"max_completion_tokens"`
	} `json:"top_provider"`
}

// parseListing reads {"data": [...]}, {"models": [...]} or a bare list.
func parseListing(data []byte) ([]Model, error) {
	var doc struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	var entries []json.RawMessage
	if json.Unmarshal(data, &entries) != nil {
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		entries = append(doc.Data, doc.Models...)
	}
	var out []Model
	seen := map[string]bool{}
	for _, raw := range entries {
		var l listed
		// A field of an unexpected type leaves the others as they are.
		_ = json.Unmarshal(raw, &l)
		m := l.model()
		if m.ID == "" || seen[m.ID] || len(out) == maxModels {
			continue
		}
		seen[m.ID] = true
		out = append(out, m)
	}
	return out, nil
}

func (l listed) model() Model {
	// Google writes "models/gemini-…" and wants it without.
	id := strings.TrimPrefix(orElse(l.ID, l.Name), "models/")
	m := Model{
		ID:        id,
		Name:      orElse(orElse(l.DisplayName, l.Name), id),
		Context:   int(max(l.ContextLength, l.ContextWindow, l.MaxContext, l.MaxModelLen, l.Meta.Context)),
		MaxOutput: int(max(l.MaxOutput, l.Top.MaxOutput)),
		Price:     openRouterPrice(l.Pricing),
	}
	for _, p := range l.Parameters {
		m.Reasoning = m.Reasoning || p == "reasoning"
	}
	return m
}

// openRouterPrice reads prices for one token, written as strings. Prices in
// other shapes are left unknown rather than guessed.
func openRouterPrice(raw json.RawMessage) *Price {
	var p struct {
		Prompt     json.Number `json:"prompt"`
		Completion json.Number `json:"completion"`
		CacheRead  json.Number `json:"input_cache_read"`
		CacheWrite json.Number `json:"input_cache_write"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil || p.Prompt == "" {
		return nil
	}
	perMillion := func(n json.Number) float64 { f, _ := n.Float64(); return f * 1e6 }
	price := Price{perMillion(p.Prompt), perMillion(p.Completion), perMillion(p.CacheRead), perMillion(p.CacheWrite)}
	if price.Input < 0 {
		return nil // a router's "it depends"
	}
	return &price
}

// A Found is a local server that answered.
type Found struct {
	Provider Info
	BaseURL  string
	Models   []Model
}

// probeTime is how long a server on this machine has to answer.
const probeTime = 150 * time.Millisecond

// Probe looks for the local servers at their usual places, all at once, and
// returns those that answered with models, in the catalogue's order. It sends
// no key.
func Probe(ctx context.Context, c *Catalogue, getenv func(string) string) []Found {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	infos := c.Providers()
	found := make([]*Found, len(infos))
	var wg sync.WaitGroup
	for i, info := range infos {
		if !info.Local {
			continue
		}
		wg.Go(func() {
			r, err := newResolver(Options{Getenv: getenv, Catalogue: c})
			if err != nil {
				return
			}
			base, err := r.baseURL(info, Model{}, Credential{})
			if err != nil || !loopback(base) {
				return
			}
			models, err := list(ctx, http.DefaultClient, info, base, "", "")
			if err == nil && len(models) > 0 {
				found[i] = &Found{info, base, models}
			}
		})
	}
	wg.Wait()
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}
