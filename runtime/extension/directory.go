package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/command"
)

// A directory says which registration owns a name. Among extensions the better
// rank wins, and within one the earlier registration; a built-in always wins.
// An owner that goes away leaves the name to the next. Guarded by Manager.mu.
type directory struct {
	m        *Manager
	commands map[string][]*commandReg // by folded name, best first
	tools    map[string][]*toolReg    // by exact name, best first
	sequence int
}

type commandReg struct {
	peer *peer
	seq  int
	extproto.RegisterCommand
	told      bool // its loss was reported
	withdrawn bool // its right to the name is gone
}

type toolReg struct {
	peer *peer
	seq  int
	extproto.RegisterTool
	deferred  bool
	told      bool
	withdrawn bool
}

func (r *commandReg) before(o *commandReg) bool {
	return r.peer.rank < o.peer.rank || r.peer.rank == o.peer.rank && r.seq < o.seq
}

func (r *toolReg) before(o *toolReg) bool {
	return r.peer.rank < o.peer.rank || r.peer.rank == o.peer.rank && r.seq < o.seq
}

var (
	commandName = regexp.MustCompile(`^[\pL\pN_:-]+$`)
	// What every model provider accepts as the name of a function.
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// registerCommand takes a command in, or says why not.
func (m *Manager) registerCommand(p *peer, f extproto.RegisterCommand) {
	if !commandName.MatchString(f.Name) {
		p.diagnose(true, "command %q is set aside: a name is letters, digits, '-', '_' and ':'", f.Name)
		return
	}
	m.update(func(fx *effects) {
		if !p.admit(fx, policies.Commands, f.Name, "command /"+f.Name, p.entry.Contributes.hasCommand(f)) {
			return
		}
		reg := &commandReg{peer: p, RegisterCommand: f, seq: m.dir.next()}
		p.commands = append(p.commands, reg)
		if m.opts.BuiltinCommand(f.Name) {
			reg.told = true
			p.lose(fx, "command /%s is set aside: zot has a command of that name", f.Name)
			return
		}
		m.dir.addCommand(reg, fx)
	})
}

// registerTool takes a tool in, or says why not.
func (m *Manager) registerTool(p *peer, f extproto.RegisterTool) {
	if err := checkTool(f); err != nil {
		p.diagnose(true, "tool %q is set aside: %v", f.Name, err)
		return
	}
	m.update(func(fx *effects) {
		if !p.admit(fx, policies.Tools, f.Name, "tool "+f.Name, p.entry.Contributes.hasTool(f)) {
			return
		}
		reg := &toolReg{peer: p, RegisterTool: f, seq: m.dir.next(), deferred: isDeferred(f)}
		p.tools = append(p.tools, reg)
		if m.opts.BuiltinTool(f.Name) {
			reg.told = true
			p.lose(fx, "tool %s is set aside: zot has a tool of that name, and case does not tell them apart", f.Name)
			return
		}
		m.dir.addTool(reg, fx)
	})
}

// checkTool says what is wrong with a tool's definition.
func checkTool(f extproto.RegisterTool) error {
	if !toolName.MatchString(f.Name) {
		return errors.New("a name is 1 to 64 letters, digits, '-' and '_'")
	}
	switch f.Exposure {
	case "", "direct", "codemode", "deferred", "model-only":
	default:
		return fmt.Errorf("unknown exposure %q", f.Exposure)
	}
	if len(f.Schema) == 0 || string(f.Schema) == "null" {
		return errors.New(`it has no schema; a tool without arguments says {"type":"object","properties":{}}`)
	}
	var top struct {
		Type json.RawMessage `json:"type"`
	}
	if err := json.Unmarshal(f.Schema, &top); err != nil {
		return errors.New("its schema is not a JSON object")
	}
	if string(top.Type) != `"object"` {
		return fmt.Errorf(`its schema must have "type":"object" (got %s)`, orWord(string(top.Type), "none"))
	}
	if _, err := CompileSchema(f.Schema); err != nil {
		return fmt.Errorf("its schema is not a JSON Schema: %v", err)
	}
	return nil
}

// CompileSchema compiles the schema of a tool. References out of the schema
// are refused: nothing is read from disk or network on its account.
func CompileSchema(schema json.RawMessage) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("a reference to %s is not allowed", url)
	}
	const id = "zot:///tool.json"
	if err := c.AddResource(id, bytes.NewReader(schema)); err != nil {
		return nil, err
	}
	return c.Compile(id)
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// lose reports a registration that does not count, once. m.mu is held.
func (p *peer) lose(fx *effects, format string, args ...any) {
	p.remark(fx, true, fmt.Sprintf(format, args...))
}

func (d *directory) next() int {
	d.sequence++
	return d.sequence
}

func (d *directory) addCommand(reg *commandReg, fx *effects) {
	if d.commands == nil {
		d.commands = map[string][]*commandReg{}
	}
	key := command.Fold(reg.Name)
	d.commands[key] = insert(d.commands[key], reg, (*commandReg).before)
	d.tellCommandLosers(key, fx)
}

func (d *directory) addTool(reg *toolReg, fx *effects) {
	if d.tools == nil {
		d.tools = map[string][]*toolReg{}
	}
	d.tools[reg.Name] = insert(d.tools[reg.Name], reg, (*toolReg).before)
	d.tellToolLosers(reg.Name, fx)
	fx.toolsChanged = true
}

func insert[T any](list []T, v T, before func(a, b T) bool) []T {
	at := slices.IndexFunc(list, func(o T) bool { return before(v, o) })
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, v)
}

func (d *directory) tellCommandLosers(key string, fx *effects) {
	for i, reg := range d.commands[key] {
		if i == 0 || reg.told {
			continue
		}
		reg.told = true
		owner := d.commands[key][0]
		if owner.peer == reg.peer {
			reg.peer.lose(fx, "command /%s is set aside: the extension registered /%s before", reg.Name, owner.Name)
			continue
		}
		reg.peer.lose(fx, "command /%s conflicts with another extension registering the same name: %s has it as /%s",
			reg.Name, owner.peer.entry.Name, owner.Name)
	}
}

func (d *directory) tellToolLosers(name string, fx *effects) {
	for i, reg := range d.tools[name] {
		if i == 0 || reg.told {
			continue
		}
		reg.told = true
		owner := d.tools[name][0]
		if owner.peer == reg.peer {
			reg.peer.lose(fx, "tool %s is set aside: the extension registered one of that name before", name)
			continue
		}
		reg.peer.lose(fx, "tool %s conflicts with another extension registering the same name: %s has it",
			name, owner.peer.entry.Name)
	}
}

// drop removes what p registered; the next in rank takes each name over.
func (d *directory) drop(p *peer, fx *effects) {
	d.remove(fx, func(r *commandReg) bool { return r.peer == p }, func(r *toolReg) bool { return r.peer == p })
}

// remove removes the commands and tools that are said to be gone; the next in
// rank takes each name over.
func (d *directory) remove(fx *effects, goneCommand func(*commandReg) bool, goneTool func(*toolReg) bool) {
	for key, list := range d.commands {
		rest := slices.DeleteFunc(slices.Clone(list), goneCommand)
		if len(rest) > 0 && rest[0] != list[0] {
			d.promoted(rest[0].peer, fx, "command /"+rest[0].Name)
		}
		d.commands[key] = rest
	}
	for name, list := range d.tools {
		rest := slices.DeleteFunc(slices.Clone(list), goneTool)
		if len(rest) < len(list) {
			fx.toolsChanged = true
			if len(rest) > 0 && rest[0] != list[0] {
				d.promoted(rest[0].peer, fx, "tool "+name)
			}
		}
		d.tools[name] = rest
	}
}

func (d *directory) promoted(p *peer, fx *effects, what string) {
	p.remark(fx, false, what+" is active here now")
}

// resort puts every list in order again after ranks changed.
func (d *directory) resort(fx *effects) {
	for key, list := range d.commands {
		slices.SortFunc(list, func(a, b *commandReg) int { return order(a.before(b), b.before(a)) })
		d.tellCommandLosers(key, fx)
	}
	for name, list := range d.tools {
		slices.SortFunc(list, func(a, b *toolReg) int { return order(a.before(b), b.before(a)) })
		d.tellToolLosers(name, fx)
	}
	fx.toolsChanged = true
}

func order(less, greater bool) int {
	switch {
	case less:
		return -1
	case greater:
		return 1
	}
	return 0
}

// activeCommand and activeTool report whether reg owns its name.
func (d *directory) activeCommand(reg *commandReg) bool { return d.commandOwner(reg.Name) == reg }

func (d *directory) activeTool(reg *toolReg) bool { return d.toolOwner(reg.Name) == reg }

// commandOwner and toolOwner return who owns a name; nil where no extension
// does.
func (d *directory) commandOwner(name string) *commandReg {
	return first(d.commands[command.Fold(name)])
}

func (d *directory) toolOwner(name string) *toolReg { return first(d.tools[name]) }

func first[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (r *commandReg) name() string {
	if r == nil {
		return ""
	}
	return r.peer.entry.Name
}

func (r *toolReg) name() string {
	if r == nil {
		return ""
	}
	return r.peer.entry.Name
}
