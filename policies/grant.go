package policies

import (
	"slices"
	"sort"
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
var Capabilities = []Capability{
	Commands, Tools, Events, Intercepts, Panels, Notify, Submit, SystemPrompt, CallTool,
	FSRead, FSWrite, NetConnect, EnvPass, EnvSecrets, ExecRun, ExecShell,
}

// bit is a bit of its own for each capability; 0 for one that is not known.
func (c Capability) bit() uint32 {
	for i, known := range Capabilities {
		if c == known {
			return 1 << i
		}
	}
	return 0
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

// An Atom is one right: a capability and a value.
type Atom struct {
	Cap   Capability `json:"capability"`
	Value string     `json:"value,omitempty"`
}

// String is the atom for people: "net.connect api.example.com:443".
func (a Atom) String() string {
	if a.Value == "" {
		return string(a.Cap)
	}
	return string(a.Cap) + " " + a.Value
}

// allRights are the rights of a grant of All, as far as they can be listed:
// the most that each capability can give.
var allRights = []Atom{
	{Commands, "*"}, {Tools, "*"}, {Events, "*=full"}, {Intercepts, "*=block"}, {Intercepts, "*=rewrite"}, {Panels, ""}, {Notify, ""},
	{Submit, "auto"}, {SystemPrompt, "replace"}, {CallTool, "*"}, {FSRead, "*"}, {FSWrite, "*"}, {NetConnect, "*:*"}, {NetConnect, "localhost:*"},
	{EnvPass, "*"}, {EnvSecrets, "*"}, {ExecRun, "*"}, {ExecShell, ""},
}

// Atoms lists the rights of the grant one by one, in a fixed order. Of a grant
// of All it lists the most that each capability can give.
func (g *Grant) Atoms() []Atom {
	var out []Atom
	if g == nil {
		return nil
	}
	if g.All {
		return slices.Clone(allRights)
	}
	add := func(c Capability, values ...string) {
		sorted := slices.Sorted(slices.Values(values))
		for _, v := range slices.Compact(sorted) {
			out = append(out, Atom{c, v})
		}
	}
	flag := func(c Capability, on bool) {
		if on {
			out = append(out, Atom{Cap: c})
		}
	}
	add(Commands, g.Commands...)
	add(Tools, g.Tools...)
	add(Events, g.eventValues()...)
	add(Intercepts, g.interceptValues()...)
	flag(Panels, g.Panels)
	flag(Notify, g.Notify)
	if g.Submit > 0 {
		add(Submit, submitWords[g.Submit])
	}
	if g.SystemPrompt > 0 {
		add(SystemPrompt, systemPromptWords[g.SystemPrompt])
	}
	add(CallTool, g.CallTool...)
	add(FSRead, g.FSRead...)
	add(FSWrite, g.FSWrite...)
	add(NetConnect, g.NetConnect...)
	add(EnvPass, g.EnvPass...)
	add(EnvSecrets, g.EnvSecrets...)
	add(ExecRun, g.ExecRun...)
	flag(ExecShell, g.ExecShell)
	return out
}

func (g *Grant) eventValues() []string {
	var out []string
	for event, level := range g.Events {
		if level > LevelNone {
			out = append(out, event+"="+level.String())
		}
	}
	return out
}

func (g *Grant) interceptValues() []string {
	var out []string
	for event, i := range g.Intercept {
		if !i.Block && !i.Rewrite {
			out = append(out, event)
		}
		if i.Block {
			out = append(out, event+"=block")
		}
		if i.Rewrite {
			out = append(out, event+"=rewrite")
		}
	}
	return out
}

// Missing lists the rights of g that held does not cover: what somebody who
// agreed to held has not agreed to. Folders that held closes and g does not are
// not rights and are found in the fs atoms that reach into them.
func (g *Grant) Missing(held *Grant) []Atom {
	var out []Atom
	for _, a := range g.Atoms() {
		if !held.Covers(a.Cap, a.Value) {
			out = append(out, a)
		}
	}
	return append(out, g.reopened(held)...)
}

// reopened finds folders that held closes inside what g opens.
func (g *Grant) reopened(held *Grant) []Atom {
	if g == nil || held == nil || g.All || held.All {
		return nil
	}
	var out []Atom
	for _, closed := range held.FSDeny {
		if anyRoot(g.FSDeny, closed) {
			continue
		}
		if anyRoot(g.FSWrite, closed) {
			out = append(out, Atom{FSWrite, closed})
		} else if anyRoot(g.FSRead, closed) {
			out = append(out, Atom{FSRead, closed})
		}
	}
	return out
}

// Meet is the set of rights that both grants hold, as far as a grant can write
// it down; where it cannot, it is smaller and never larger.
func Meet(a, b *Grant) *Grant {
	switch {
	case a == nil || b == nil:
		return &Grant{}
	case a.All:
		return b.withLimits(a.Limits)
	case b.All:
		return a.withLimits(b.Limits)
	}
	return &Grant{
		Commands: meetLists(a.Commands, b.Commands, globInsideFold),
		Tools:    meetLists(a.Tools, b.Tools, globInside),
		CallTool: meetLists(a.CallTool, b.CallTool, globInside),
		Events:   meetEvents(a, b), Intercept: meetIntercepts(a, b),
		Panels: a.Panels && b.Panels, Notify: a.Notify && b.Notify,
		Submit: min(a.Submit, b.Submit), SystemPrompt: min(a.SystemPrompt, b.SystemPrompt),
		FSRead:     meetLists(append(slices.Clip(a.FSRead), a.FSWrite...), append(slices.Clip(b.FSRead), b.FSWrite...), rootInside),
		FSWrite:    meetLists(a.FSWrite, b.FSWrite, rootInside),
		FSDeny:     union(a.FSDeny, b.FSDeny),
		NetConnect: meetLists(a.NetConnect, b.NetConnect, addressInside),
		EnvPass:    meetLists(a.EnvPass, b.EnvPass, same), EnvSecrets: meetLists(a.EnvSecrets, b.EnvSecrets, same),
		ExecRun:   meetPrograms(a, b),
		ExecShell: a.ExecShell && b.ExecShell,
		Limits:    a.Limits.meet(b.Limits),
	}
}

func (g *Grant) withLimits(l Limits) *Grant {
	out := *g
	out.Limits = out.Limits.meet(l)
	return &out
}

func same(a, b string) bool { return a == b }

// meetPrograms minds that a shell can start any program.
func meetPrograms(a, b *Grant) []string {
	switch {
	case a.ExecShell && b.ExecShell:
		return union(a.ExecRun, b.ExecRun)
	case a.ExecShell:
		return slices.Clone(b.ExecRun)
	case b.ExecShell:
		return slices.Clone(a.ExecRun)
	}
	return meetLists(a.ExecRun, b.ExecRun, globInside)
}

// meetLists keeps of each pair the one inside the other.
func meetLists(a, b []string, inside func(inner, outer string) bool) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			switch {
			case inside(x, y):
				out = append(out, x)
			case inside(y, x):
				out = append(out, y)
			}
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	sort.Strings(out)
	return slices.Compact(out)
}

// eventNames are the events that either grant speaks of by name.
func eventNames[V any](a, b map[string]V) []string {
	var out []string
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		out = append(out, name)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func meetEvents(a, b *Grant) map[string]Level {
	var out map[string]Level
	for _, name := range eventNames(a.Events, b.Events) {
		if out == nil {
			out = map[string]Level{}
		}
		out[name] = min(a.EventLevel(name), b.EventLevel(name))
	}
	return out
}

func meetIntercepts(a, b *Grant) map[string]Intercept {
	var out map[string]Intercept
	for _, name := range eventNames(a.Intercept, b.Intercept) {
		x, okX := a.InterceptOf(name)
		y, okY := b.InterceptOf(name)
		if !okX || !okY {
			continue
		}
		if out == nil {
			out = map[string]Intercept{}
		}
		out[name] = x.meet(y)
	}
	return out
}

func (i Intercept) meet(j Intercept) Intercept {
	m := Intercept{
		Block: i.Block && j.Block, Rewrite: i.Rewrite && j.Rewrite,
		DenyOnFailure: i.DenyOnFailure || j.DenyOnFailure,
		Timeout:       i.Timeout, Tools: i.Tools,
	}
	if j.Timeout > 0 && (m.Timeout == 0 || j.Timeout < m.Timeout) {
		m.Timeout = j.Timeout
	}
	switch {
	case i.Tools == nil:
		m.Tools = j.Tools
	case j.Tools != nil:
		m.Tools = append([]string{}, meetLists(i.Tools, j.Tools, globInside)...)
	}
	return m
}

// Join is what either grant holds: the rules of one layer add up.
func Join(a, b *Grant) *Grant {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.All || b.All:
		return &Grant{All: true, Limits: a.Limits.meet(b.Limits)}
	}
	out := &Grant{
		Commands: union(a.Commands, b.Commands), Tools: union(a.Tools, b.Tools), CallTool: union(a.CallTool, b.CallTool),
		Events: map[string]Level{}, Intercept: map[string]Intercept{},
		Panels: a.Panels || b.Panels, Notify: a.Notify || b.Notify,
		Submit: max(a.Submit, b.Submit), SystemPrompt: max(a.SystemPrompt, b.SystemPrompt),
		FSRead: union(a.FSRead, b.FSRead), FSWrite: union(a.FSWrite, b.FSWrite), FSDeny: union(a.FSDeny, b.FSDeny),
		NetConnect: union(a.NetConnect, b.NetConnect),
		EnvPass:    union(a.EnvPass, b.EnvPass), EnvSecrets: union(a.EnvSecrets, b.EnvSecrets),
		ExecRun: union(a.ExecRun, b.ExecRun), ExecShell: a.ExecShell || b.ExecShell,
		Limits: a.Limits.meet(b.Limits),
	}
	for _, name := range eventNames(a.Events, b.Events) {
		out.Events[name] = max(a.EventLevel(name), b.EventLevel(name))
	}
	for _, name := range eventNames(a.Intercept, b.Intercept) {
		x, okX := a.InterceptOf(name)
		y, okY := b.InterceptOf(name)
		switch {
		case !okX:
			out.Intercept[name] = y
		case !okY:
			out.Intercept[name] = x
		default:
			out.Intercept[name] = x.join(y)
		}
	}
	return out
}

func (i Intercept) join(j Intercept) Intercept {
	m := Intercept{
		Block: i.Block || j.Block, Rewrite: i.Rewrite || j.Rewrite,
		// What is to be refused stays refused, and the shorter wait holds.
		DenyOnFailure: i.DenyOnFailure || j.DenyOnFailure, Timeout: i.Timeout,
	}
	if j.Timeout > 0 && (m.Timeout == 0 || j.Timeout < m.Timeout) {
		m.Timeout = j.Timeout
	}
	if i.Tools != nil && j.Tools != nil {
		m.Tools = union(i.Tools, j.Tools)
	}
	return m
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
