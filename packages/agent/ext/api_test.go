package ext_test

import (
	"context"
	"encoding/json"
	"io"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

// The signatures that published extensions are compiled against. A change here
// breaks them.
var (
	_ func(name, version string) *ext.Extension                                                   = ext.New
	_ func(*ext.Extension) error                                                                  = (*ext.Extension).Run
	_ func(*ext.Extension, context.Context, io.Reader, io.Writer) error                           = (*ext.Extension).RunIO
	_ func(*ext.Extension, func(ext.HostInfo))                                                    = (*ext.Extension).OnHello
	_ func(*ext.Extension) ext.HostInfo                                                           = (*ext.Extension).Host
	_ func(*ext.Extension, string, string, func(string) ext.Response)                             = (*ext.Extension).Command
	_ func(*ext.Extension, string, string, json.RawMessage, func(json.RawMessage) ext.ToolResult) = (*ext.Extension).Tool
	_ func(*ext.Extension, string, string, json.RawMessage, func(json.RawMessage) ext.ToolResult) = (*ext.Extension).DeferredTool

	_ func(*ext.Extension, string, string, json.RawMessage, func(context.Context, json.RawMessage) ext.ToolResult) = (*ext.Extension).InteractiveTool
	_ func(*ext.Extension, string, string, json.RawMessage, json.RawMessage, func(json.RawMessage) ext.ToolResult) = (*ext.Extension).StructuredTool
	_ func(*ext.Extension, string, string, json.RawMessage, ext.ToolOptions, ext.ToolHandler)                      = (*ext.Extension).ToolWithOptions
	_ func(*ext.Extension, string, func(ext.Event))                                                                = (*ext.Extension).On
	_ func(*ext.Extension, func(ext.BeforeAgentStartEvent) *string)                                                = (*ext.Extension).InterceptBeforeAgentStart
	_ func(*ext.Extension, func(string, json.RawMessage) (bool, string))                                           = (*ext.Extension).InterceptToolCall
	_ func(*ext.Extension, func(string, json.RawMessage) ext.ToolCallDecision)                                     = (*ext.Extension).InterceptToolCallX
	_ func(*ext.Extension, func(int) ext.TurnStartDecision)                                                        = (*ext.Extension).InterceptTurnStart
	_ func(*ext.Extension, func(string) ext.AssistantMessageDecision)                                              = (*ext.Extension).InterceptAssistantMessage
	_ func(*ext.Extension, string, func(key, text string), func())                                                 = (*ext.Extension).OnPanelKey
	_ func(*ext.Extension, string, string, []string, string)                                                       = (*ext.Extension).RenderPanel
	_ func(*ext.Extension, string, string, []string, string)                                                       = (*ext.Extension).OpenPanel
	_ func(*ext.Extension, string)                                                                                 = (*ext.Extension).ClosePanel
	_ func(*ext.Extension, string, string)                                                                         = (*ext.Extension).Notify
	_ func(*ext.Extension, string, ...any)                                                                         = (*ext.Extension).Logf
	_ func(*ext.Extension, context.Context, string, any) (ext.ToolResult, error)                                   = (*ext.Extension).CallTool
	_ func(string) ext.Response                                                                                    = ext.Prompt
	_ func(string) ext.Response                                                                                    = ext.Insert
	_ func(string) ext.Response                                                                                    = ext.Display
	_ func() ext.Response                                                                                          = ext.Noop
	_ func(string, ...any) ext.Response                                                                            = ext.Errorf
	_ func(id, title string, lines []string, footer string) ext.Response                                           = ext.OpenPanel
	_ func(string, any, string) ext.Response                                                                       = ext.ToolPrompt
	_ func(string) ext.ToolContent                                                                                 = ext.Text
	_ func(mime, b64 string) ext.ToolContent                                                                       = ext.Image
	_ func(string, []byte) ext.ToolContent                                                                         = ext.ImageBytes
	_ func(string) ext.ToolResult                                                                                  = ext.TextResult
	_ func(string) ext.ToolResult                                                                                  = ext.TextErrorResult
	_ func(string) ext.ToolResult                                                                                  = ext.MarkdownResult
)
