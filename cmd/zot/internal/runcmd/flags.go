// Package runcmd runs a session: it reads the flags of `zot`, assembles the
// host they describe, and drives it through one of the faces: print, json,
// rpc or the terminal interface.
package runcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/policies"
)

// Flags are the flags of a session.
type Flags struct {
	Print, JSON, Stream, RPC, Plain bool
	Stats                           string

	Provider, Model, APIKey, BaseURL string
	Reasoning                        string
	Temperature                      float64
	Insecure                         bool

	SystemPrompt       string
	AppendSystemPrompt []string
	NoContextFiles     bool

	Continue, Resume, NoSession bool
	Session                     string

	CWD, Home string

	Tools    []string
	NoTools  bool
	MaxSteps int
	NoYolo   bool
	Jail     bool

	Ext     []string
	NoExt   bool
	NoSkill bool

	Trust, RequireTrusted bool
	PolicyMode            string // open, pinned or locked; a stricter one of a policy holds

	set *pflag.FlagSet
}

// Bind declares the flags on a command.
func (f *Flags) Bind(fs *pflag.FlagSet) {
	f.set = fs
	fs.BoolVarP(&f.Print, "print", "p", false, "answer one prompt on standard output and leave")
	fs.BoolVar(&f.JSON, "json", false, "report one event per line as JSON on standard output")
	fs.BoolVar(&f.Stream, "stream", false, "like --print, and with it, with the text as it arrives")
	fs.BoolVar(&f.RPC, "rpc", false, "serve a program on standard input and output, like `zot rpc`")
	fs.BoolVar(&f.Plain, "plain", false, "talk line by line, for screen readers and simple terminals")
	fs.StringVar(&f.Stats, "stats", "", "with --print or --stream: write what the answer cost to a `file` as JSON")

	fs.StringVar(&f.Provider, "provider", "", "provider of the model: openai, anthropic, ollama, demo, …")
	fs.StringVar(&f.Model, "model", "", "`id` of the model")
	fs.StringVar(&f.APIKey, "api-key", "", "credential for the provider, before the environment and stored ones")
	fs.StringVar(&f.BaseURL, "base-url", "", "`URL` of an OpenAI-compatible server")
	fs.BoolVar(&f.Insecure, "insecure", false, "accept any certificate of a server given by --base-url")
	fs.StringVar(&f.Reasoning, "reasoning", "", "off, minimal, low, medium, high, xhigh or max")
	fs.Float64Var(&f.Temperature, "temperature", 0, "sampling temperature, 0 to 2")

	fs.StringVar(&f.SystemPrompt, "system-prompt", "", "replace the built-in identity with `text`; empty removes it")
	fs.StringArrayVar(&f.AppendSystemPrompt, "append-system-prompt", nil, "add `text` to the system prompt; repeatable")
	fs.BoolVar(&f.NoContextFiles, "no-context-files", false, "read no AGENTS.md (also -nc)")

	fs.BoolVarP(&f.Continue, "continue", "c", false, "continue this folder's latest conversation")
	fs.BoolVarP(&f.Resume, "resume", "r", false, "pick a conversation to resume")
	fs.StringVar(&f.Session, "session", "", "resume the conversation with this `path or id`")
	fs.BoolVar(&f.NoSession, "no-session", false, "keep nothing of the conversation")

	fs.StringVar(&f.CWD, "cwd", "", "work in this `folder`")
	fs.StringVar(&f.Home, "home", "", "keep zot's state in this `folder` ($ZOT_HOME)")

	fs.StringSliceVar(&f.Tools, "tools", nil, "allow only these tools, built-in and extensions' alike")
	fs.BoolVar(&f.NoTools, "no-tools", false, "allow no tool at all")
	fs.IntVar(&f.MaxSteps, "max-steps", 0, "end a prompt after this many model calls")
	fs.BoolVar(&f.NoYolo, "no-yolo", false, "ask before every tool call")
	fs.BoolVar(&f.Jail, "jail", false, "keep file tools inside the project, and commands where the system can")

	fs.StringArrayVarP(&f.Ext, "ext", "e", nil, "load the extension in `folder` for this run; repeatable")
	fs.BoolVar(&f.NoExt, "no-ext", false, "discover no extensions; those of --ext still load")
	fs.BoolVar(&f.NoExt, "no-extensions", false, "same as --no-ext")
	fs.BoolVar(&f.NoSkill, "no-skill", false, "offer no skills")
	fs.BoolVar(&f.NoSkill, "no-skills", false, "same as --no-skill")
	fs.Bool("with-skills", true, "offer skills (the default)")

	fs.Bool("experimental-oauth", false, "accepted from older scripts; it does nothing")
	fs.BoolVar(&f.Trust, "trust", false, "trust this project for this run")
	fs.BoolVar(&f.RequireTrusted, "require-trusted", false, "leave with status 23 where something is held back")
	fs.StringVar(&f.PolicyMode, "policy-mode", "", "extensions load as in `mode` open, pinned or locked, where no policy is stricter")
	for _, name := range []string{"no-extensions", "no-skills", "with-skills", "rpc", "experimental-oauth"} {
		_ = fs.MarkHidden(name)
	}
}

// Changed reports whether the user gave the flag.
func (f *Flags) Changed(name string) bool { return f.set != nil && f.set.Changed(name) }

// reasoningLevels are the words of --reasoning, with the spellings that mean
// the same.
var reasoningLevels = map[string]string{
	"off": "off", "minimal": "minimal", "minimum": "minimal", "low": "low", "medium": "medium",
	"high": "high", "xhigh": "xhigh", "max": "max", "maximum": "max",
}

// Check says what is wrong with the flags.
func (f *Flags) Check() error {
	if f.Reasoning != "" {
		level, ok := reasoningLevels[strings.ToLower(f.Reasoning)]
		if !ok {
			return usage("--reasoning %q: use off, minimal, low, medium, high, xhigh or max", f.Reasoning)
		}
		f.Reasoning = level
	}
	switch {
	case f.PolicyMode != "" && !slices.Contains(policies.ModeNames(), f.PolicyMode):
		return usage("--policy-mode %q: use open, pinned or locked", f.PolicyMode)
	case f.Temperature < 0 || f.Temperature > 2:
		return usage("--temperature %g: use a number from 0 to 2", f.Temperature)
	case f.MaxSteps < 0 || f.Changed("max-steps") && f.MaxSteps == 0:
		return usage("--max-steps %d: use a positive number", f.MaxSteps)
	case f.NoTools && len(f.Tools) > 0:
		return usage("--no-tools and --tools exclude each other")
	case f.Stats != "" && !f.Print && !f.Stream:
		return usage("--stats works with --print and --stream only")
	}
	return f.oneFace()
}

// oneFace sees to it that one face is asked for; --stream is how --print prints.
func (f *Flags) oneFace() error {
	var given []string
	for name, on := range map[string]bool{"--print": f.Print && !f.Stream, "--json": f.JSON, "--stream": f.Stream, "--rpc": f.RPC, "--plain": f.Plain} {
		if on {
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		return usage("only one of --print, --json, --stream, --rpc and --plain can be given")
	}
	return nil
}

func usage(format string, args ...any) error {
	return &exit.UsageError{Err: fmt.Errorf(format, args...)}
}

// errNoPrompt is the fault of a face that answers one prompt and got none.
var errNoPrompt = errors.New("no prompt: give it as an argument or on standard input")
