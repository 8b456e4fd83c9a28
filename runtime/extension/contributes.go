package extension

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// Contributes is what an extension's manifest says it will register. Of what
// it leaves out of an item (a description, a schema) anything may be registered.
type Contributes struct {
	Commands []extproto.RegisterCommand
	Tools    []extproto.RegisterTool
	// Panels are the ids of the panels that may be opened. Nil: any.
	Panels []string
}

// hasPanel reports whether a panel is declared.
func (c *Contributes) hasPanel(id string) bool {
	return c == nil || c.Panels == nil || slices.Contains(c.Panels, id)
}

// hasCommand reports whether the command is declared as it is registered.
func (c *Contributes) hasCommand(f extproto.RegisterCommand) bool {
	if c == nil {
		return true
	}
	for _, d := range c.Commands {
		if d.Name == f.Name {
			return d.Description == "" || d.Description == f.Description
		}
	}
	return false
}

// hasTool reports whether the tool is declared as it is registered.
func (c *Contributes) hasTool(f extproto.RegisterTool) bool {
	if c == nil {
		return true
	}
	for _, d := range c.Tools {
		if d.Name != f.Name {
			continue
		}
		return (d.Description == "" || d.Description == f.Description) &&
			fitsDeclared(d.Schema, f.Schema) && fitsDeclared(d.OutputSchema, f.OutputSchema) &&
			isDeferred(d) == isDeferred(f) && d.Interactive == f.Interactive
	}
	return false
}

// isDeferred tells whether a tool is kept from the model until it is activated.
func isDeferred(f extproto.RegisterTool) bool {
	if f.Exposure != "" {
		return f.Exposure == "deferred"
	}
	return f.Deferred
}

// fitsDeclared compares two schemas without regard to white space and order.
func fitsDeclared(declared, registered json.RawMessage) bool {
	return len(declared) == 0 || bytes.Equal(declared, registered) || sameValue(declared, registered)
}

func sameValue(a, b json.RawMessage) bool {
	x, okX := exactValue(a)
	y, okY := exactValue(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// exactValue decodes JSON with numbers as they are written.
func exactValue(raw json.RawMessage) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}
