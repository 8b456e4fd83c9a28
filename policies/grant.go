package policies

import (
	"slices"
	"strings"
	"time"
)

// A Capability is a kind of thing an extension may do.
type Capability string

// The capabilities, and what a value of each looks like. The value "*" stands
// for any.
const (
	Commands     Capability = "commands"     // name of a slash command
	Tools        Capability = "tools"        // name of a tool
	Events       Capability = "events"       // "tool_call=full", "tool_call=redacted"
	Intercepts   Capability = "intercept"    // "tool_call=block", "tool_call=rewrite"
	Panels       Capability = "panels"       // none
	Notify       Capability = "notify"       // none
	Submit       Capability = "submit"       // "ask", "auto"
	SystemPrompt Capability = "systemPrompt" // "read", "replace"
	CallTool     Capability = "callTool"     // name of a tool
	FSRead       Capability = "fs.read"      // path
	FSWrite      Capability = "fs.write"     // path
	NetConnect   Capability = "net.connect"  // "host:port"
	EnvPass      Capability = "env.pass"     // name of a variable
	EnvSecrets   Capability = "env.secrets"  // name of a variable
	ExecRun      Capability = "exec.run"     // name of a program
	ExecShell    Capability = "exec.shell"   // none
)

// Capabilities lists all there are.
var Capabilities = [capabilityCount]Capability{
	Commands, Tools, Events, Intercepts, Panels, Notify, Submit, SystemPrompt, CallTool,
	FSRead, FSWrite, NetConnect, EnvPass, EnvSecrets, ExecRun, ExecShell,
}

// A Level is how much of an event an extension is told.
type Level uint8

// The levels.
const (
	LevelNone     Level = iota
	LevelRedacted       // that it happened, without its content
	LevelFull
)

// String is the word that policies use.
func (l Level) String() string { return [...]string{"none", "redacted", "full"}[l] }

// Intercept bounds what an interceptor may do.
type Intercept struct {
	Block, Rewrite bool
	// Tools limits tool_call to the calls of these tools; nil: of all.
	Tools []string
	// DenyOnFailure says that a missing or broken answer refuses.
	DenyOnFailure bool
	Timeout       time.Duration // 0: the setting's
}

// A Grant is a set of rights. It is what a manifest asks for, what a rule
// gives, and what a user approves. The zero value is no right at all.
type Grant struct {
	// All is every right; the other fields then say nothing.
	All bool

	Commands, Tools, CallTool []string
	Events                    map[string]Level     // by event, "*" for any
	Intercept                 map[string]Intercept // by event, "*" for any
	Panels, Notify            bool
	Submit                    uint8 // 0 none, 1 ask, 2 auto
	SystemPrompt              uint8 // 0 none, 1 read, 2 replace

	FSRead, FSWrite, FSDeny []string // clean paths with forward slashes, or roots ${…}
	NetConnect              []string
	EnvPass, EnvSecrets     []string
	ExecRun                 []string
	ExecShell               bool

	Limits Limits
}

var (
	submitWords       = []string{"none", "ask", "auto"}
	systemPromptWords = []string{"none", "read", "replace"}
)

// Covers tells whether the grant holds the right to use c with value. Nothing
// is allocated.
func (g *Grant) Covers(c Capability, value string) bool {
	if g == nil {
		return false
	}
	if g.All {
		return true
	}
	switch c {
	case Commands:
		return anyGlobFold(g.Commands, value)
	case Tools:
		return anyGlob(g.Tools, value)
	case CallTool:
		return anyGlob(g.CallTool, value)
	case Events:
		return g.coversEvent(value)
	case Intercepts:
		return g.coversIntercept(value)
	case Panels:
		return g.Panels
	case Notify:
		return g.Notify
	case Submit:
		return g.Submit >= wordLevel(submitWords, value)
	case SystemPrompt:
		return g.SystemPrompt >= wordLevel(systemPromptWords, value)
	case FSRead:
		return (anyRoot(g.FSRead, value) || anyRoot(g.FSWrite, value)) && !anyRoot(g.FSDeny, value)
	case FSWrite:
		return anyRoot(g.FSWrite, value) && !anyRoot(g.FSDeny, value)
	case NetConnect:
		return anyAddress(g.NetConnect, value)
	case EnvPass:
		return slices.Contains(g.EnvPass, value)
	case EnvSecrets:
		return slices.Contains(g.EnvSecrets, value)
	case ExecRun:
		return g.ExecShell || anyGlob(g.ExecRun, value)
	case ExecShell:
		return g.ExecShell
	}
	return false
}

// touches tells whether the grant holds some part of the right.
func (g *Grant) touches(c Capability, value string) bool {
	if g.Covers(c, value) || c == ExecShell && len(g.ExecRun) > 0 {
		return true
	}
	for _, item := range g.items(c) {
		if (selector{c, item}).touches(c, value) {
			return true
		}
	}
	return false
}

// items lists what the grant holds of a capability that has values.
func (g *Grant) items(c Capability) []string {
	switch c {
	case Commands:
		return g.Commands
	case Tools:
		return g.Tools
	case CallTool:
		return g.CallTool
	case Events: // who is told all is told that it happened
		out := g.eventValues()
		for _, v := range out {
			if event, ok := strings.CutSuffix(v, "=full"); ok {
				out = append(out, event+"=redacted")
			}
		}
		return out
	case Intercepts:
		return g.interceptValues()
	case FSRead, FSWrite: // what may be written may be read
		return append(slices.Clip(g.FSRead), g.FSWrite...)
	case NetConnect:
		return g.NetConnect
	case EnvPass:
		return g.EnvPass
	case EnvSecrets:
		return g.EnvSecrets
	case ExecRun:
		return g.ExecRun
	case Submit: // the larger right holds the smaller one
		return submitWords[min(1, g.Submit) : g.Submit+1]
	case SystemPrompt:
		return systemPromptWords[min(1, g.SystemPrompt) : g.SystemPrompt+1]
	}
	return nil
}

// wordLevel is the rank of a word; one that is unknown, or "*", is above all.
func wordLevel(words []string, word string) uint8 {
	for i, w := range words {
		if w == word {
			return uint8(i)
		}
	}
	if word == "" {
		return 1
	}
	if word == "*" {
		return uint8(len(words) - 1)
	}
	return 255
}

// EventLevel is how much of an event the grant lets through.
func (g *Grant) EventLevel(event string) Level {
	switch {
	case g == nil:
		return LevelNone
	case g.All:
		return LevelFull
	}
	if level, ok := g.Events[event]; ok {
		return level
	}
	return g.Events["*"]
}

// InterceptOf is what the grant lets an interceptor of the event do, and
// whether it may be asked at all.
func (g *Grant) InterceptOf(event string) (Intercept, bool) {
	switch {
	case g == nil:
		return Intercept{}, false
	case g.All:
		return Intercept{Block: true, Rewrite: true}, true
	}
	if i, ok := g.Intercept[event]; ok {
		return i, true
	}
	i, ok := g.Intercept["*"]
	return i, ok
}

func (g *Grant) coversEvent(value string) bool {
	event, word, _ := strings.Cut(value, "=")
	want := LevelRedacted
	if word == "full" {
		want = LevelFull
	}
	return g.EventLevel(event) >= want
}

func (g *Grant) coversIntercept(value string) bool {
	event, word, _ := strings.Cut(value, "=")
	i, ok := g.InterceptOf(event)
	switch word {
	case "block":
		return ok && i.Block
	case "rewrite":
		return ok && i.Rewrite
	}
	return ok
}

// ProtocolRights are all rights of the extension protocol and none beyond it:
// what an extension starts from whose manifest asks for nothing.
func ProtocolRights() *Grant {
	all := []string{"*"}
	return &Grant{
		Commands: all, Tools: all, CallTool: all,
		Events:    map[string]Level{"*": LevelFull},
		Intercept: map[string]Intercept{"*": {Block: true, Rewrite: true}},
		Panels:    true, Notify: true, Submit: 2, SystemPrompt: 2,
	}
}
