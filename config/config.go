// Package config reads zot's settings.
//
// Settings come in layers, lowest first: those built in, the administrator's
// (managed), the user's, the project's, the checkout's own (local), the user's
// for this project, environment variables and flags. A layer is one file, JSON
// with comments or YAML. The highest layer that sets a key decides; objects
// merge key by key; a list replaces the one below it unless its key is written
// with a plus: "+tools" appends.
//
//	settings := config.Load(config.Options{Home: h, ProjectRoot: root, Environ: os.Environ()})
//	settings.Config.Timeouts.Hello
//	settings.Effective(config.MustPath("timeouts.hello")) // value, layer, file, line, column
//
// Every key is declared once, in the table of keys.go, with its type, bounds,
// default, the layers that may set it, and its description. Decoding, the names
// of environment variables, the JSON Schema and the manual come from there.
//
// Reading is strict and forgiving at once: each fault is a [Problem] with its
// place and a remedy, and the good keys next to it still apply. The "policy"
// section is not read here, only found: package policies reads it, under rules
// of its own.
package config

import "time"

// Config holds the value of every setting. What each field means, its bounds
// and its default are in the table of keys.go.
type Config struct {
	Provider    string
	Model       string
	Reasoning   string
	Temperature *float64 // nil: the provider's own
	MaxSteps    int

	Theme  string
	Keymap map[string]string // chord to slash command
	// Tools names the tools that the model may use. Nil means all of them, an
	// empty list none.
	Tools        []string
	Confirmation string // "off" or "all"
	Jail         bool

	BaseURL           string
	HTTPProxy         string
	CAFile            string
	Insecure          bool
	CredentialCommand []string

	Extensions   Extensions
	Skills       Skills
	ContextFiles ContextFiles
	Timeouts     Timeouts
	Retry        Retry
	Limits       Limits
	Bash         Bash
	Read         Read
	Compaction   Compaction
	Sessions     Sessions
	UI           UI

	Providers map[string]*Provider
	Models    map[string]*Model
}

// Extensions says where extensions are looked for.
type Extensions struct {
	Enabled  bool
	Project  bool
	Global   bool
	Dirs     []string // absolute
	Disabled []string
	// Isolation is where modules run: "runner" or "inline".
	Isolation string
}

// Skills says where skills are looked for.
type Skills struct {
	Enabled bool
	Dirs    []string // absolute
}

// ContextFiles says what of AGENTS.md files reaches the model.
type ContextFiles struct {
	Enabled bool
	MaxSize Size
	// Untrusted is what becomes of those of a project that is not trusted:
	// "ask", "show" or "skip".
	Untrusted string
}

// Timeouts bounds what zot waits for.
type Timeouts struct {
	Hello, Ready, AutoReady          time.Duration
	ReadyWait                        time.Duration
	Command, Tool, Intercept, Write  time.Duration
	Shutdown, Term                   time.Duration
	ModelConnect, ModelIdle, Network time.Duration
}

// Retry bounds how often a model call is tried again.
type Retry struct {
	Attempts int
	MaxWait  time.Duration
}

// Limits bounds what extensions may send and leave behind.
type Limits struct {
	Frame       Size
	QueueFrames int
	QueueBytes  Size
	Log         Size
	LogFiles    int
}

// Bash bounds the bash tool.
type Bash struct {
	Timeout, MaxTimeout time.Duration
	OutputLines         int
	OutputBytes         Size
	Shell               string
	ProtectHome         bool
}

// Read bounds the read tool.
type Read struct {
	Lines int
	Bytes Size
}

// Compaction says when a conversation is shortened.
type Compaction struct {
	Threshold int // percent of the model's context; 0: never by itself
}

// Sessions says what of conversations is kept.
type Sessions struct {
	Enabled bool
	Memory  Size
}

// UI holds the settings of the interactive face.
type UI struct {
	ToolRender       string
	Compact          bool
	CollapseTools    bool
	ShowThinking     bool
	Timestamps       bool
	InlineImages     string
	Mouse            bool
	AltScreen        string
	Notifications    string
	RespectGitignore bool
	History          int
}

// Provider holds settings for one provider of models.
type Provider struct {
	Type              string
	BaseURL           string
	APIKeyEnv         string
	CredentialCommand []string
	Headers           map[string]string
	CAFile            string
	Model             string
	Timeout           time.Duration
}

// Model adds to or corrects what is known of a model.
type Model struct {
	Name          string
	Provider      string
	ContextWindow int
	MaxOutput     int
	Reasoning     *bool
	Images        *bool
	Cost          Cost
}

// Cost is in US dollars per million tokens.
type Cost struct {
	Input, Output, CacheRead, CacheWrite *float64
}

func (c *Config) provider(name string) *Provider {
	if c.Providers == nil {
		c.Providers = map[string]*Provider{}
	}
	if c.Providers[name] == nil {
		c.Providers[name] = &Provider{}
	}
	return c.Providers[name]
}

func (c *Config) model(id string) *Model {
	if c.Models == nil {
		c.Models = map[string]*Model{}
	}
	if c.Models[id] == nil {
		c.Models[id] = &Model{}
	}
	return c.Models[id]
}
