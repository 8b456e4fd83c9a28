package ext

import (
	"context"
	"encoding/json"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// ToolOptions are the less common properties of a tool. The zero value is an
// ordinary tool.
type ToolOptions struct {
	// OutputSchema is the JSON Schema of ToolResult.StructuredContent.
	OutputSchema json.RawMessage
	// Namespace groups tools; the extension's name where empty.
	Namespace             string
	NamespaceDescription  string
	NamespaceInstructions string
	// Exposure is "", "direct", "codemode", "deferred" or "model-only" and
	// overrides Deferred.
	Exposure string
	// Deferred hides the tool from the model until a result activates it.
	Deferred bool
	// Interactive takes the deadline away from a tool that waits for a person.
	Interactive bool
}

// A ToolHandler works on one call. Its context ends when the call is abandoned;
// what it returns after that is not sent. It is also what [Extension.CallTool]
// needs to know which call it serves.
type ToolHandler func(ctx context.Context, args json.RawMessage) ToolResult

type tool struct {
	name, description string
	schema            json.RawMessage
	options           ToolOptions
	handler           ToolHandler
}

func (t *tool) frame() extproto.Frame {
	o := t.options
	return extproto.RegisterTool{
		Name: t.name, Description: t.description, Schema: t.schema,
		Deferred: o.Deferred, Interactive: o.Interactive, OutputSchema: o.OutputSchema,
		Namespace: o.Namespace, NamespaceDescription: o.NamespaceDescription,
		NamespaceInstructions: o.NamespaceInstructions, Exposure: o.Exposure,
	}
}

// Tool registers a tool for the model. The name is 1 to 64 letters, digits, '_'
// and '-'. The schema is a JSON Schema of type "object" for its arguments, nil
// for none; the description tells the model when to use it.
// The handler must check what it gets, and has 60 seconds.
func (e *Extension) Tool(name, description string, schema json.RawMessage, handler func(args json.RawMessage) ToolResult) {
	e.ToolWithOptions(name, description, schema, ToolOptions{}, plain(handler))
}

// DeferredTool registers a tool that the model does not see until some result
// names it in ActivateTools.
func (e *Extension) DeferredTool(name, description string, schema json.RawMessage, handler func(args json.RawMessage) ToolResult) {
	e.ToolWithOptions(name, description, schema, ToolOptions{Deferred: true}, plain(handler))
}

// InteractiveTool registers a tool that waits for a person: it has no deadline,
// and is refused where zot runs without one.
func (e *Extension) InteractiveTool(name, description string, schema json.RawMessage, handler func(ctx context.Context, args json.RawMessage) ToolResult) {
	e.ToolWithOptions(name, description, schema, ToolOptions{Interactive: true}, handler)
}

// StructuredTool registers a tool whose results have StructuredContent of the
// given schema beside the content that the model reads.
func (e *Extension) StructuredTool(name, description string, schema, outputSchema json.RawMessage, handler func(args json.RawMessage) ToolResult) {
	e.ToolWithOptions(name, description, schema, ToolOptions{OutputSchema: outputSchema}, plain(handler))
}

// ToolWithOptions registers a tool with a handler that gets a context.
func (e *Extension) ToolWithOptions(name, description string, schema json.RawMessage, options ToolOptions, handler ToolHandler) {
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	t := &tool{name: name, description: description, schema: schema, options: options, handler: handler}
	e.register(func() bool { return e.tools.set(name, t) }, t.frame)
}

func plain(handler func(json.RawMessage) ToolResult) ToolHandler {
	return func(_ context.Context, args json.RawMessage) ToolResult { return handler(args) }
}
