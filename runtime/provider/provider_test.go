package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

func stored(id, key string) func(string) (provider.Credential, error) {
	return func(p string) (provider.Credential, error) {
		if p == id {
			return provider.Credential{Key: key}, nil
		}
		return provider.Credential{}, nil
	}
}

func TestNewResolves(t *testing.T) {
	tests := []struct {
		name string
		o    provider.Options
		want string // "provider model baseURL keyFrom"
	}{
		{"the first key in the environment", provider.Options{Getenv: env("GROQ_API_KEY", "k", "OPENAI_API_KEY", "k")}, "openai gpt-5.1 https://api.openai.com/v1 $OPENAI_API_KEY"},
		{"a stored key", provider.Options{Stored: stored("mistral", "k")}, "mistral mistral-medium-3.5 https://api.mistral.ai/v1 stored"},
		{"the environment over the store", provider.Options{Provider: "openai", Getenv: env("OPENAI_API_KEY", "k"), Stored: stored("openai", "k2")}, "openai gpt-5.1 https://api.openai.com/v1 $OPENAI_API_KEY"},
		{"the flag over all", provider.Options{Provider: "OpenAI", APIKey: "k", Getenv: env("OPENAI_API_KEY", "k")}, "openai gpt-5.1 https://api.openai.com/v1 --api-key"},
		{"an alias", provider.Options{Provider: "gemini", Model: "gemini-x", APIKey: "k"}, "google gemini-x https://generativelanguage.googleapis.com/v1beta/openai --api-key"},
		{"the provider in the model's name", provider.Options{Model: "openrouter/moonshotai/kimi-k3", APIKey: "k"}, "openrouter moonshotai/kimi-k3 https://openrouter.ai/api/v1 --api-key"},
		{"the provider said twice", provider.Options{Provider: "openai", Model: "openai/gpt-5", APIKey: "k"}, "openai gpt-5 https://api.openai.com/v1 --api-key"},
		{"the model finds its provider", provider.Options{Model: "deepseek-v4-flash", Getenv: env("OPENAI_API_KEY", "k", "DEEPSEEK_API_KEY", "k")}, "deepseek deepseek-v4-flash https://api.deepseek.com/v1 $DEEPSEEK_API_KEY"},
		{"an unknown model goes to the first key", provider.Options{Model: "brand-new", Getenv: env("GROQ_API_KEY", "k")}, "groq brand-new https://api.groq.com/openai/v1 $GROQ_API_KEY"},
		{"a base URL alone takes no one's key", provider.Options{BaseURL: "http://127.0.0.1:9/v1/", Model: "m", Getenv: env("OPENAI_API_KEY", "k")}, "custom m http://127.0.0.1:9/v1 "},
		{"a base URL with a key of its own", provider.Options{BaseURL: "http://127.0.0.1:9/v1", Model: "m", Getenv: env("ZOT_API_KEY", "k")}, "custom m http://127.0.0.1:9/v1 $ZOT_API_KEY"},
		{"a moved provider", provider.Options{Provider: "openai", Getenv: env("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "http://proxy:1/v1")}, "openai gpt-5.1 http://proxy:1/v1 $OPENAI_API_KEY"},
		{"the flag moves it", provider.Options{Provider: "openai", BaseURL: "http://a:1/v1", Getenv: env("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "http://proxy:1/v1")}, "openai gpt-5.1 http://a:1/v1 $OPENAI_API_KEY"},
		{"local needs no key", provider.Options{Provider: "ollama", Model: "qwen3"}, "ollama qwen3 http://127.0.0.1:11434/v1 "},
		{"Ollama elsewhere", provider.Options{Provider: "ollama", Model: "qwen3", Getenv: env("OLLAMA_HOST", "0.0.0.0:4000")}, "ollama qwen3 http://127.0.0.1:4000/v1 "},
		{"Ollama by URL", provider.Options{Provider: "ollama", Model: "qwen3", Getenv: env("OLLAMA_HOST", "https://box.example/")}, "ollama qwen3 https://box.example:11434/v1 "},
		{"a tag with a colon stays", provider.Options{Provider: "ollama", Model: "hf.co/a/b:q4"}, "ollama hf.co/a/b:q4 http://127.0.0.1:11434/v1 "},
		{"Anthropic by its usual address", provider.Options{Provider: "claude", Getenv: env("ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", "http://proxy:1")}, "anthropic claude-sonnet-5 http://proxy:1/v1 $ANTHROPIC_API_KEY"},
		{"the demo's server", provider.Options{Provider: "demo", BaseURL: "http://127.0.0.1:9/v1"}, "demo scripted-demo http://127.0.0.1:9/v1 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, sel, err := provider.New(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := sel.Provider.ID + " " + sel.Model.ID + " " + sel.BaseURL + " " + sel.KeyFrom
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestNewErrors(t *testing.T) {
	broken := func(string) (provider.Credential, error) {
		return provider.Credential{}, errors.New("pass exited with status 1")
	}
	tests := []struct {
		name string
		o    provider.Options
		kind model.Kind
		says []string
	}{
		{"nothing", provider.Options{}, model.KindNoModel, []string{"no model is configured", "zot demo", "zot login", "ollama"}},
		{"no key", provider.Options{Provider: "groq"}, model.KindAuth, []string{"no API key for Groq", "zot login groq", "GROQ_API_KEY", "--api-key"}},
		{"a store that fails", provider.Options{Provider: "groq", Stored: broken}, model.KindAuth, []string{"pass exited", "zot login groq"}},
		{"unknown provider", provider.Options{Provider: "opnai"}, model.KindBadRequest, []string{`"opnai"`, "openai", "models.json"}},
		{"no model", provider.Options{Provider: "ollama"}, model.KindNoModel, []string{"--model", "--list-models --provider ollama"}},
		{"custom without a model", provider.Options{BaseURL: "http://127.0.0.1:9/v1"}, model.KindNoModel, []string{"--model"}},
		{"no URL", provider.Options{BaseURL: "localhost:80", Model: "m"}, model.KindBadRequest, []string{"--base-url", `"localhost:80"`, "http://"}},
		{"a URL with a password", provider.Options{BaseURL: "http://u:hunter2@h/v1", Model: "m"}, model.KindBadRequest, []string{"user name"}},
		{"a bad OPENAI_BASE_URL", provider.Options{Provider: "openai", APIKey: "k", Getenv: env("OPENAI_BASE_URL", "nope")}, model.KindBadRequest, []string{"$OPENAI_BASE_URL", `"nope"`}},
		{"the demo without its server", provider.Options{Provider: "demo"}, model.KindNoModel, []string{"zot demo"}},
		{"a CA file that is none", provider.Options{Provider: "ollama", Model: "m", HTTP: httpOptions("provider_test.go")}, model.KindBadRequest, []string{"provider_test.go", "PEM"}},
		{"an API that is none", provider.Options{API: "soap"}, model.KindBadRequest, []string{`"soap"`, `"openai"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := provider.New(tt.o)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind {
				t.Fatalf("error = %v, want one of kind %q", err, tt.kind)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error lacks %q: %v", s, err)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error holds the password: %v", err)
			}
		})
	}
}

// The client that New returns sends the key, prices the answer, and is told
// nothing about models it does not know.
func TestNewClientWorks(t *testing.T) {
	srv := providertest.New(t, "turn\n expect header Authorization is \"Bearer sk-1\"\n expect model is gpt-5.1\n say Hi.\n usage input=1000000 output=100000")
	c, _, err := provider.New(provider.Options{Provider: "openai", BaseURL: srv.URL(), APIKey: "sk-1"})
	if err != nil {
		t.Fatal(err)
	}
	got := providertest.Ask(t, c, model.Request{Model: "gpt-5.1", Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: "hi"}}}}})
	if got.Text != "Hi." || got.Response.Usage.CostUSD != 2.25 {
		t.Errorf("got %q, cost %v, %v; want Hi. for 2.25", got.Text, got.Response.Usage.CostUSD, got.Err)
	}
}

// Each wire is reached: by the service's own choice, the model's and the user's.
func TestWires(t *testing.T) {
	tests := []struct {
		o    provider.Options
		wire providertest.Wire
	}{
		{provider.Options{Provider: "openai"}, providertest.Chat},
		{provider.Options{Provider: "openai", Model: "gpt-5.1-codex"}, providertest.Responses},
		{provider.Options{Provider: "openai", API: provider.APIResponses}, providertest.Responses},
		{provider.Options{Provider: "anthropic"}, providertest.Messages},
		{provider.Options{Provider: "anthropic", API: provider.APIChat}, providertest.Chat},
		{provider.Options{Model: "m", API: provider.APIAnthropic}, providertest.Messages},
	}
	for _, tt := range tests {
		srv := providertest.New(t, "models a b\nturn\n say Hi.\n usage input=1000000 output=1000000")
		tt.o.BaseURL, tt.o.APIKey = srv.URL(), "k"
		c, sel, err := provider.New(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		got := providertest.Ask(t, c, model.Request{Model: sel.Model.ID, Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: "hi"}}}}})
		if got.Text != "Hi." || srv.Requests()[0].Wire != tt.wire || (got.Response.Usage.CostUSD > 0) != (sel.Model.Price != nil) {
			t.Errorf("%+v: got %q over %q, cost %v, %v; want %q", tt.o, got.Text, srv.Requests()[0].Wire, got.Response.Usage.CostUSD, got.Err, tt.wire)
		}
		if models, err := provider.Discover(t.Context(), tt.o); err != nil || len(models) != 2 {
			t.Errorf("%+v: discovered %v, %v", tt.o, models, err)
		}
	}
}

// Certificates go unchecked on request, and never at the address that a known
// service has.
func TestInsecure(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data": [{"id": "m"}]}`)
	}))
	defer srv.Close()
	house, err := provider.Builtin().Overlay("settings", []byte(`{"providers": {"house": {"baseUrl": "`+srv.URL+`/v1", "auth": "none"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := provider.Builtin().Overlay("settings", []byte(`{"providers": {"openai": {"baseUrl": "`+srv.URL+`/v1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    provider.Options
		ok   bool
	}{
		{"a base URL", provider.Options{BaseURL: srv.URL + "/v1"}, true},
		{"a provider of one's own", provider.Options{Provider: "house", Catalogue: house}, true},
		{"a service's own address", provider.Options{Provider: "openai", Catalogue: moved, APIKey: "k"}, false},
	} {
		if _, err := provider.Discover(t.Context(), tt.o); err == nil {
			t.Errorf("%s: the certificate was accepted unasked", tt.name)
		}
		tt.o.HTTP.Insecure = true
		if _, err := provider.Discover(t.Context(), tt.o); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestCatalogue(t *testing.T) {
	c := provider.Builtin()
	for _, i := range c.Providers() {
		if i.DefaultModel == "" {
			continue
		}
		m, ok := c.Find(i.ID, i.DefaultModel)
		if !ok || m.Context == 0 {
			t.Errorf("%s: the default model %q is not in the catalogue, or has no window", i.ID, i.DefaultModel)
		}
	}
	for _, m := range c.Models("") {
		if _, ok := c.Provider(m.Provider); !ok || m.Context <= 0 || m.MaxOutput <= 0 || m.MaxOutput > m.Context {
			t.Errorf("odd entry: %+v", m)
		}
	}
	if m, ok := c.Find("openai", "gpt-5-mini-2025-08-07"); !ok || m.Price.Input != 0.25 || m.ID != "gpt-5-mini-2025-08-07" {
		t.Errorf("a dated name found %+v, %v", m, ok)
	}
	if _, ok := c.Find("openai", "gpt-5-maxi"); ok {
		t.Error("a longer name was taken for a dated one")
	}
	usd, ok := c.Cost("anthropic", "claude-sonnet-4-6", message.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6})
	if !ok || usd != 3+15+0.3+3.75 {
		t.Errorf("cost = %v, %v", usd, ok)
	}
	if _, ok := c.Cost("together", "moonshotai/Kimi-K2.5", message.Usage{Input: 1}); ok {
		t.Error("a model of unknown price was priced")
	}
}

func TestOverlay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "models.json")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := provider.LoadCatalogue(file); err != nil {
		t.Errorf("a missing file: %v", err)
	}
	write(`{"providers":{
		"openai":{"models":[{"id":"gpt-5","priceInput":9},{"id":"gpt-9","contextWindow":7,"baseUrl":"http://x:1/v1"}]},
		"my-corp":{"baseUrl":"https://llm.corp/v1","auth":"none","models":[{"id":"big","name":"Big","reasoningLevelMap":{"high":"deep"}}]}
	}}`)
	c, err := provider.LoadCatalogue(file)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Find("openai", "gpt-5"); m.Price.Input != 9 || m.Price.Output != 10 || m.Context != 400000 {
		t.Errorf("gpt-5 = %+v, want the price changed and the rest kept", m)
	}
	if m, _ := provider.Builtin().Find("openai", "gpt-5"); m.Price.Input != 1.25 {
		t.Errorf("the built-in catalogue was changed: %+v", m)
	}
	_, sel, err := provider.New(provider.Options{Provider: "my-corp", Catalogue: c})
	if err != nil || sel.Model.Name != "Big" || sel.BaseURL != "https://llm.corp/v1" {
		t.Errorf("my-corp = %+v, %v", sel, err)
	}
	_, sel, err = provider.New(provider.Options{Model: "openai/gpt-9", APIKey: "k", Catalogue: c})
	if err != nil || sel.BaseURL != "http://x:1/v1" {
		t.Errorf("gpt-9 = %+v, %v", sel, err)
	}

	bad := map[string]string{
		"{\n  \"providers\": {\n    \"x\": {},\n  }\n}":                    "models.json:4:3",
		`{"providers":{"x":{"models":[{"id":5}]}}}`:                        "models.json:1:",
		`{"providers":{"nope":{}}}`:                                        "providers.nope: there is no built-in provider",
		`{"providers":{"openai":{"api":"soap"}}}`:                          `api is "soap"`,
		`{"providers":{"openai":{"auth":"maybe"}}}`:                        `auth is "maybe"`,
		`{"providers":{"openai":{"models":[{"name":"n"}]}}}`:               "models[0] has no id",
		`{"providers":{"z":{"baseUrl":"llm.corp/v1"}}}`:                    `baseUrl: "llm.corp/v1"`,
		`{"providers":{"openai":{"models":[{"id":"a","maxTokens":"b"}]}}}`: "models.json:1:",
	}
	for in, want := range bad {
		write(in)
		c, err := provider.LoadCatalogue(file)
		if err == nil || !strings.Contains(err.Error(), want) || c == nil {
			t.Errorf("%s: error = %v, want %q and a catalogue", in, err, want)
		}
	}
}

func TestDiscover(t *testing.T) {
	tests := []struct {
		name, body string
		want       []provider.Model
	}{
		{"OpenAI", `{"object":"list","data":[{"id":"a","object":"model"},{"id":"a"},{"object":"model"}]}`, []provider.Model{{Provider: "custom", ID: "a", Name: "a"}}},
		{"OpenRouter", `{"data":[{"id":"x/y","name":"Y","context_length":1000,"top_provider":{"max_completion_tokens":10},"pricing":{"prompt":"0.000002","completion":"0.00001"},"supported_parameters":["tools","reasoning"]},{"id":"auto","pricing":{"prompt":"-1"}}]}`,
			[]provider.Model{{Provider: "custom", ID: "x/y", Name: "Y", Context: 1000, MaxOutput: 10, Reasoning: true, Price: &provider.Price{Input: 2, Output: 10}}, {Provider: "custom", ID: "auto", Name: "auto"}}},
		{"Together's bare list", `[{"id":"a","context_length":8,"pricing":{"input":1}}]`, []provider.Model{{Provider: "custom", ID: "a", Name: "a", Context: 8}}},
		{"Google's prefix", `{"models":[{"name":"models/gemini"}]}`, []provider.Model{{Provider: "custom", ID: "gemini", Name: "models/gemini"}}},
		{"vLLM", `{"data":[{"id":"a","max_model_len":32768}]}`, []provider.Model{{Provider: "custom", ID: "a", Name: "a", Context: 32768}}},
		{"odd types", `{"data":[{"id":"a","context_length":"much"}]}`, []provider.Model{{Provider: "custom", ID: "a", Name: "a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer k" {
					t.Errorf("asked for %s with %q", r.URL.Path, r.Header.Get("Authorization"))
				}
				w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			got, err := provider.Discover(t.Context(), provider.Options{BaseURL: srv.URL + "/v1", APIKey: "k"})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("models (-want +got):\n%s", d)
			}
		})
	}
}

func TestDiscoverFails(t *testing.T) {
	for body, want := range map[string]string{
		"<html>":                   "not one",
		`{"data":` + many(17<<20):  "longer than",
		`{"error":{"message":"x"}`: "not one",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(body)) }))
		_, err := provider.Discover(t.Context(), provider.Options{BaseURL: srv.URL})
		srv.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: error = %v, want %q", body, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provider.Discover(ctx, provider.Options{BaseURL: "http://127.0.0.1:1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func many(n int) string { return strings.Repeat(" ", n) }

func TestWithLive(t *testing.T) {
	c := provider.Builtin().WithLive([]provider.Model{
		{Provider: "openai", ID: "gpt-5", Name: "other", Context: 1},
		{Provider: "openai", ID: "new", Name: "new", Context: 5},
		{Provider: "together", ID: "moonshotai/Kimi-K2.5", Price: &provider.Price{Input: 1}},
	})
	if m, _ := c.Find("openai", "gpt-5"); m.Context != 400000 || m.Name != "GPT-5" {
		t.Errorf("what was known was replaced: %+v", m)
	}
	if m, ok := c.Find("openai", "new"); !ok || m.Context != 5 {
		t.Errorf("new = %+v, %v", m, ok)
	}
	if m, _ := c.Find("together", "moonshotai/Kimi-K2.5"); m.Price == nil {
		t.Errorf("the price was not filled in: %+v", m)
	}
}

func TestProbe(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"data":[{"id":"qwen3"}]}`))
	}))
	defer srv.Close()
	c, err := (provider.Builtin()).Overlay("t", []byte(`{"providers":{
		"lmstudio":{"baseUrl":"http://127.0.0.1:1/v1"},"llamacpp":{"baseUrl":"http://127.0.0.1:1/v1"},"vllm":{"baseUrl":"http://192.0.2.1/v1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := provider.Probe(t.Context(), c, env("OLLAMA_HOST", srv.URL))
	if len(got) != 1 || got[0].Provider.ID != "ollama" || got[0].Models[0].ID != "qwen3" || got[0].Models[0].Price == nil {
		t.Errorf("found %+v, want Ollama with qwen3, free", got)
	}
}

func TestDeferredInPlace(t *testing.T) {
	for route, want := range map[string]bool{
		"kimi k3": true, "kimi k3-256k": true, "moonshotai kimi-k3": true, "moonshotai-cn kimi-k3": true, "opencode-go kimi-k3": true,
		"openrouter moonshotai/kimi-k3": true, "openrouter moonshotai/kimi-k3:free": true, "vercel-ai-gateway moonshotai/kimi-k3": true,
		"moonshotai kimi-k2.6": false, "kimi k30": false, "openai kimi-k3": false, "fireworks accounts/fireworks/models/kimi-k3": false,
	} {
		p, m, _ := strings.Cut(route, " ")
		if got := provider.DeferredInPlace(p, m); got != want {
			t.Errorf("%s: %v, want %v", route, got, want)
		}
	}
}
