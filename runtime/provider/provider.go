// Package provider knows the model services: where each one is, what its key
// is called, which models it has and what they cost. [New] turns what a user
// chose into a client.
//
//	client, sel, err := provider.New(provider.Options{
//		Provider: "openrouter",
//		Model:    "moonshotai/kimi-k3",
//		Getenv:   os.Getenv,
//	})
//
// The wires are in the packages below: openai (chat completions), responses and
// anthropic, and what they share in httpapi, sse, answer and history. A service that speaks one of the
// wires needs no code: an entry here, or in the user's models.json, does.
package provider

import (
	"slices"
	"strings"

	"github.com/patriceckhart/zot/runtime/provider/openai"
)

// An API is a wire that services speak, in the words of models.json.
type API string

// The wires.
const (
	APIChat      API = "openai"           // chat completions
	APIResponses API = "openai-responses" // OpenAI's Responses
	APIAnthropic API = "anthropic"        // Anthropic's Messages
)

// Info describes a service.
type Info struct {
	ID      string // "openai"
	Name    string // "OpenAI"
	Aliases []string
	API     API
	BaseURL string // empty where there is none to assume
	// KeyEnv are the environment variables that may hold the key, the first
	// that is set winning.
	KeyEnv []string
	// BaseURLEnv is the environment variable that moves the service.
	BaseURLEnv   string
	DefaultModel string // empty where the user must choose
	NeedsKey     bool
	Local        bool // runs on the user's machine: probed, free, its models not known ahead
	Custom       bool // from models.json
	// Discover says whether the service may be asked for its models unasked;
	// nil leaves it to whether there is a key for it.
	Discover *bool

	dialect openai.Dialect
}

// ID of the service that is meant when only a base URL is given.
const customID = "custom"

// DemoID is the service of the scripted demo.
const DemoID = "demo"

var effortCapped = map[string]string{"minimal": "low", "xhigh": "high", "max": "high"}

var builtin = []Info{
	{
		ID: "openai", Name: "OpenAI", API: APIChat, BaseURL: "https://api.openai.com/v1", BaseURLEnv: "OPENAI_BASE_URL",
		KeyEnv: []string{"OPENAI_API_KEY"}, DefaultModel: "gpt-5.1", NeedsKey: true,
		dialect: openai.Dialect{MaxTokens: "max_completion_tokens"},
	},
	{
		ID: "anthropic", Name: "Anthropic", Aliases: []string{"claude"}, API: APIAnthropic, BaseURL: "https://api.anthropic.com/v1", BaseURLEnv: "ANTHROPIC_BASE_URL",
		KeyEnv: []string{"ANTHROPIC_API_KEY"}, DefaultModel: "claude-sonnet-5", NeedsKey: true,
	},
	{
		ID: "openrouter", Name: "OpenRouter", API: APIChat, BaseURL: "https://openrouter.ai/api/v1",
		KeyEnv: []string{"OPENROUTER_API_KEY"}, DefaultModel: "anthropic/claude-sonnet-5", NeedsKey: true,
		dialect: openai.Dialect{Effort: openai.EffortObject, ReasoningField: "reasoning"},
	},
	{
		ID: "google", Name: "Google Gemini", Aliases: []string{"gemini"}, API: APIChat, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
		KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, DefaultModel: "gemini-3.8-flash", NeedsKey: true,
		dialect: openai.Dialect{Levels: map[string]string{"xhigh": "high", "max": "high", "off": "none"}},
	},
	{
		ID: "deepseek", Name: "DeepSeek", API: APIChat, BaseURL: "https://api.deepseek.com/v1",
		KeyEnv: []string{"DEEPSEEK_API_KEY"}, DefaultModel: "deepseek-v4-pro", NeedsKey: true,
		dialect: openai.Dialect{ReasoningField: "reasoning_content", Levels: map[string]string{"minimal": "low", "medium": "high", "xhigh": "max", "max": "max"}},
	},
	{
		ID: "kimi", Name: "Kimi for Coding", API: APIChat, BaseURL: "https://api.kimi.com/coding/v1",
		KeyEnv: []string{"KIMI_API_KEY", "KIMI_CODING_API_KEY"}, DefaultModel: "k3", NeedsKey: true,
		dialect: openai.Dialect{ReasoningField: "reasoning_content", Levels: kimiLevels},
	},
	{
		ID: "moonshotai", Name: "Moonshot AI", Aliases: []string{"moonshot"}, API: APIChat, BaseURL: "https://api.moonshot.ai/v1",
		KeyEnv: []string{"MOONSHOT_API_KEY"}, DefaultModel: "kimi-k3", NeedsKey: true,
		dialect: openai.Dialect{ReasoningField: "reasoning_content", Levels: kimiLevels},
	},
	{
		ID: "moonshotai-cn", Name: "Moonshot AI (China)", Aliases: []string{"moonshot-cn"}, API: APIChat, BaseURL: "https://api.moonshot.cn/v1",
		KeyEnv: []string{"MOONSHOT_API_KEY"}, DefaultModel: "kimi-k3", NeedsKey: true,
		dialect: openai.Dialect{ReasoningField: "reasoning_content", Levels: kimiLevels},
	},
	{
		ID: "groq", Name: "Groq", API: APIChat, BaseURL: "https://api.groq.com/openai/v1",
		KeyEnv: []string{"GROQ_API_KEY"}, DefaultModel: "moonshotai/kimi-k2-instruct-0905", NeedsKey: true,
		dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "mistral", Name: "Mistral", API: APIChat, BaseURL: "https://api.mistral.ai/v1",
		KeyEnv: []string{"MISTRAL_API_KEY"}, DefaultModel: "mistral-medium-3.5", NeedsKey: true,
		dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "xai", Name: "xAI", Aliases: []string{"grok"}, API: APIChat, BaseURL: "https://api.x.ai/v1",
		KeyEnv: []string{"XAI_API_KEY"}, DefaultModel: "grok-4.5", NeedsKey: true,
		dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "together", Name: "Together AI", Aliases: []string{"togetherai"}, API: APIChat, BaseURL: "https://api.together.xyz/v1",
		KeyEnv: []string{"TOGETHER_API_KEY"}, DefaultModel: "moonshotai/Kimi-K2.5", NeedsKey: true,
		dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "fireworks", Name: "Fireworks", API: APIChat, BaseURL: "https://api.fireworks.ai/inference/v1",
		KeyEnv: []string{"FIREWORKS_API_KEY"}, DefaultModel: "accounts/fireworks/models/kimi-k3", NeedsKey: true,
		dialect: openai.Dialect{Levels: map[string]string{"minimal": "low", "xhigh": "high", "max": "max", "off": "none"}},
	},
	{
		ID: "ollama", Name: "Ollama", API: APIChat, BaseURL: "http://127.0.0.1:11434/v1", BaseURLEnv: "OLLAMA_HOST",
		KeyEnv: []string{"OLLAMA_API_KEY"}, Local: true,
		dialect: openai.Dialect{Levels: map[string]string{"minimal": "low", "xhigh": "high", "max": "high", "off": "none"}},
	},
	{
		ID: "lmstudio", Name: "LM Studio", Aliases: []string{"lm-studio"}, API: APIChat, BaseURL: "http://127.0.0.1:1234/v1",
		KeyEnv: []string{"LMSTUDIO_API_KEY"}, Local: true, dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "llamacpp", Name: "llama.cpp", Aliases: []string{"llama", "llama.cpp", "llama-server"}, API: APIChat, BaseURL: "http://127.0.0.1:8080/v1",
		KeyEnv: []string{"LLAMA_API_KEY"}, Local: true, dialect: openai.Dialect{Levels: effortCapped},
	},
	{
		ID: "vllm", Name: "vLLM", API: APIChat, BaseURL: "http://127.0.0.1:8000/v1",
		KeyEnv: []string{"VLLM_API_KEY"}, Local: true, dialect: openai.Dialect{Levels: effortCapped},
	},
	{ID: DemoID, Name: "demo (scripted, no AI)", API: APIChat, DefaultModel: "scripted-demo"},
}

var kimiLevels = map[string]string{"minimal": "low", "medium": "high", "xhigh": "max", "max": "max"}

// All lists the services that are built in, in the order in which a key in the
// environment is looked for.
func All() []Info { return slices.Clone(builtin) }

// Lookup finds a built-in service by its id or an alias, in any case.
func Lookup(name string) (Info, bool) { return lookup(builtin, name) }

func lookup(infos []Info, name string) (Info, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, i := range infos {
		if i.ID == name || slices.Contains(i.Aliases, name) {
			return i, true
		}
	}
	return Info{}, false
}

// k3Routes are the services, and the prefix of their model names, that take
// Kimi K3's declaration of tools in the middle of a conversation.
var k3Routes = map[string]string{
	"kimi":              "k3",
	"moonshotai":        "kimi-k3",
	"moonshotai-cn":     "kimi-k3",
	"opencode-go":       "kimi-k3",
	"openrouter":        "moonshotai/kimi-k3",
	"vercel-ai-gateway": "moonshotai/kimi-k3",
}

// DeferredInPlace reports whether the model of the service is told of deferred
// tools at the result that activated them.
func DeferredInPlace(provider, model string) bool {
	route, ok := k3Routes[provider]
	if !ok {
		return false
	}
	rest, ok := strings.CutPrefix(strings.ToLower(model), route)
	return ok && (rest == "" || rest[0] == '-' || rest[0] == ':')
}
