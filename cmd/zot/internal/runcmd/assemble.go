package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/session"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

// A run is a host and what it was assembled from.
type run struct {
	flags    *Flags
	streams  *iostreams.Streams
	w        *workspace.Workspace
	host     *host.Host
	connect  *connector
	store    *session.Store
	kept     *session.Session // of the conversation; nil where nothing is kept
	builtin  []tool.Tool
	own      []tool.Tool // for what the user types; see ownTools
	ownOnce  sync.Once
	jail     *jail
	texts    *texts
	skillUse skillUse
	planner  *planner
	// stopWatch ends looking after the policy.
	stopWatch context.CancelFunc
	notices   []event.Event // what is to be said once somebody listens
}

// face is what an assembly needs to know of the face that will drive it.
type face struct {
	interactive bool
	asker       guard.Asker
	commands    func(name string) bool // the face's own slash commands
}

// assemble puts a session together from flags and settings.
func assemble(f *Flags, s *iostreams.Streams, as face) (*run, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	w, err := workspace.Open(workspace.Options{
		CWD: f.CWD, Home: f.Home, Trust: f.Trust, PolicyMode: f.PolicyMode, Headless: !as.interactive, Flags: overrides(f),
	})
	if err != nil {
		return nil, err
	}
	if err := misgiven(w.Settings); err != nil {
		return nil, err
	}
	w.Complain(s.Err)
	w.ComplainOfPolicy(s.Err)
	if err := w.Home.Ensure(); err != nil {
		return nil, err
	}
	a := &run{flags: f, streams: s, w: w, connect: newConnector(f, w), store: session.NewStore(w.Home.SessionsDir())}
	a.connect.report = func(text string) { a.report(event.Notice{Level: "warn", Text: text}) }
	return a, a.build(as)
}

// misgiven says which variables and flags hold no value of their setting. They
// were given for this run, so it does not go on without. A variable that no
// setting has may be another program's.
func misgiven(s *config.Settings) error {
	var faults []error
	for _, p := range s.Problems {
		if (p.Layer == config.Env || p.Layer == config.Flags) && p.Key != "" {
			faults = append(faults, p)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return &exit.UsageError{Err: errors.Join(faults...)}
}

// overrides are the flags that set a setting.
func overrides(f *Flags) []config.Override {
	var all []config.Override
	add := func(flag, key, value string) {
		if f.Changed(flag) {
			all = append(all, config.Override{Key: key, Value: value, From: "--" + flag})
		}
	}
	add("provider", "provider", f.Provider)
	add("model", "model", f.Model)
	add("reasoning", "reasoning", f.Reasoning)
	add("temperature", "temperature", fmt.Sprint(f.Temperature))
	add("max-steps", "maxSteps", fmt.Sprint(f.MaxSteps))
	add("base-url", "baseURL", f.BaseURL)
	add("insecure", "insecure", fmt.Sprint(f.Insecure))
	add("jail", "jail", fmt.Sprint(f.Jail))
	return all
}

func (a *run) build(as face) error {
	cfg := &a.w.Settings.Config
	if err := a.openJail(); err != nil {
		return err
	}
	ext := managerOptions(a.w)
	ext.Interactive = as.interactive
	a.planner = &planner{
		w: a.w, explicit: a.flags.Ext, noExt: a.flags.NoExt, version: version.Number,
		withhold: secretNames(cfg), report: a.report,
	}
	a.texts = &texts{run: a, asks: as.interactive, told: map[string]bool{}}
	if as.interactive {
		a.texts.decided = make(chan struct{})
	}
	a.texts.find(a.w)
	a.builtin = a.tools()
	ext.Request = newServices(a.planner).serve
	ext.Audit = a.planner.audit
	opts := host.Options{
		Version: version.Number, CWD: a.w.CWD, Connect: a.connect.connect,
		Tools: a.builtin, Only: a.onlyTools(cfg), Plan: a.texts.plan, Extensions: ext,
		SystemPrompt: a.texts.prompt, Settled: a.texts.settled, MaxSteps: cfg.MaxSteps,
		Asker: as.asker, BuiltinCommand: as.commands, ReadyWait: orNone(cfg.Timeouts.ReadyWait),
		CompactAt: cfg.Compaction.Threshold,
	}
	askAll := a.flags.NoYolo || cfg.Confirmation == "all"
	opts.Policy = toolPolicy{planner: a.planner, skills: &a.skillUse, askAll: askAll, asker: as.asker}
	if askAll && as.asker == nil {
		a.notice("warn", "nobody can be asked in this mode, so tools run without confirmation")
	}
	if err := a.namedExtensions(); err != nil {
		return err
	}
	if err := a.requireTrusted(); err != nil {
		return err
	}
	var err error
	if opts.Conversation, err = a.conversation(); err != nil {
		return err
	}
	if a.host, err = host.New(opts); err != nil {
		return err
	}
	a.host.Subscribe(a.skillUse.watch)
	a.planner.manager = a.host.Extensions
	var watching context.Context
	watching, a.stopWatch = context.WithCancel(context.Background())
	go a.watchPolicy(watching) // ends in close
	return nil
}

// notice keeps a line of the host's own until somebody listens.
func (a *run) notice(level, text string) {
	a.notices = append(a.notices, event.Notice{Level: level, Text: text})
}

// say reports a line of the host's own.
func (a *run) say(level, text string) {
	a.notice(level, text)
	if a.host != nil {
		a.announce()
	}
}

// announce says what was kept for the first listener.
func (a *run) announce() {
	for _, e := range a.notices {
		a.host.Publish(e)
	}
	a.notices = nil
}

// report passes an event on, or keeps it until somebody listens.
func (a *run) report(e event.Event) {
	if a.host == nil {
		a.notices = append(a.notices, e)
		return
	}
	a.host.Publish(e)
}

// toolOptions are the settings of the built-in tools.
func (a *run) toolOptions() builtin.Options {
	cfg := a.w.Settings.Config
	hidden := secretNames(&cfg)
	return builtin.Options{
		CWD: a.w.CWD, Home: a.w.UserHome, Shell: cfg.Bash.Shell,
		MaxLines: cfg.Bash.OutputLines, MaxBytes: int(cfg.Bash.OutputBytes),
		ReadLines: cfg.Read.Lines, ReadBytes: int(cfg.Read.Bytes), Jail: a.jail.current, Confine: a.confine, SpillDir: a.jail.own,
		BashTimeout: cfg.Bash.Timeout, BashTimeoutMax: cfg.Bash.MaxTimeout, CheckPath: a.protect,
		Env: func() []string { return without(os.Environ(), hidden) },
	}
}

// tools are the built-in tools.
func (a *run) tools() []tool.Tool {
	all := builtin.New(a.toolOptions())
	if !a.flags.NoSkill && a.w.Settings.Config.Skills.Enabled {
		all = append(all, skill.NewTool(a.texts.skills))
	}
	return all
}

// without leaves out the variables with the given names.
func without(env, names []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, key)
	})
}

// onlyTools are the names of all tools there may be; nil means no bound.
func (a *run) onlyTools(cfg *config.Config) []string {
	switch {
	case a.flags.NoTools:
		return []string{}
	case len(a.flags.Tools) > 0:
		return a.flags.Tools
	}
	return cfg.Tools
}
