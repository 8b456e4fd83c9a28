package ext_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

const anyObject = `{"type":"object"}`

var citySchema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)

// authors holds an extension for each golden conversation, by its name. The
// number counts the connections of the conversation from 0.
var authors = map[string]func(e *ext.Extension, connection int){
	"load": func(e *ext.Extension, _ int) {
		e.On("session_start", func(ext.Event) {})
		weather(ext.TextResult("fog"))(e, 0)
		e.InterceptToolCall(func(string, json.RawMessage) (bool, string) { return true, "" })
		e.Command("weather", "current weather of a city", nil)
		e.On("turn_end", func(ext.Event) {})
	},
	"register-late": func(e *ext.Extension, _ int) {
		e.Command("enable", "", func(string) ext.Response {
			weather(ext.TextResult("Oslo: snow"))(e, 0)
			return ext.Noop()
		})
	},
	"host-news": command("calm", "", ext.Noop()),

	"command-prompt":  command("greet", "say hi", ext.Prompt("Say hello to me, briefly.")),
	"command-insert":  command("greet", "say hi", ext.Insert("TODO: ")),
	"command-display": command("greet", "say hi", ext.Display("three things\nare open")),
	"command-noop": func(e *ext.Extension, _ int) {
		e.Command("/greet", "", func(string) ext.Response {
			e.Notify("success", "done")
			return ext.Response{}
		})
	},
	"command-error": func(e *ext.Extension, _ int) {
		e.Command("greet", "", func(args string) ext.Response { return ext.Errorf("no such greeting: %s", args) })
	},
	"command-panic": func(e *ext.Extension, _ int) {
		e.Command("greet", "", func(args string) ext.Response {
			if args == "" {
				panic("out of ideas")
			}
			return ext.Display(args)
		})
	},
	"command-open-panel": command("todos", "",
		ext.OpenPanel("todos-main", "Todos", []string{"□ ship it", "✓ write it"}, "esc closes")),
	"command-tool-prompt": command("look", "",
		ext.ToolPrompt("read", map[string]string{"path": "go.mod"}, "Which Go version is this?")),

	"tool-text":   weather(ext.TextResult("Berlin: 9 °C, drizzle")),
	"tool-blocks": weather(ext.ToolResult{Content: append(ext.MarkdownResult("# Berlin").Content, ext.Text("fog"))}),
	"tool-image":  weather(ext.ToolResult{Content: []ext.ToolContent{ext.Text("the map"), ext.ImageBytes("image/png", pixel)}}),
	"tool-error": func(e *ext.Extension, _ int) {
		e.Tool("weather", "Current weather of a city.", citySchema, func(args json.RawMessage) ext.ToolResult {
			return ext.TextErrorResult("no such city: " + city(args))
		})
	},
	"tool-empty": weather(ext.ToolResult{}),
	"tool-structured": func(e *ext.Extension, _ int) {
		out := json.RawMessage(`{"type":"object","properties":{"celsius":{"type":"number"}}}`)
		e.StructuredTool("weather", "Current weather of a city.", citySchema, out, func(json.RawMessage) ext.ToolResult {
			res := ext.TextResult("9 °C")
			res.StructuredContent = json.RawMessage(`{"celsius":9,"sky":"drizzle"}`)
			return res
		})
	},
	"tool-options": func(e *ext.Extension, _ int) {
		e.ToolWithOptions("weather", "Current weather of a city.", citySchema, ext.ToolOptions{
			Interactive: true, Namespace: "sky", NamespaceDescription: "What the sky does.",
			NamespaceInstructions: "Ask once a day.", Exposure: "direct",
		}, func(context.Context, json.RawMessage) ext.ToolResult { return ext.TextResult("ok") })
	},
	"tool-no-args": func(e *ext.Extension, _ int) {
		e.Tool("weather", "Current weather of a city.", json.RawMessage(anyObject), func(args json.RawMessage) ext.ToolResult {
			if string(args) != "{}" {
				return ext.TextErrorResult("got " + string(args))
			}
			return ext.TextResult("everywhere: fine")
		})
	},
	"tool-cancel": func(e *ext.Extension, _ int) {
		e.ToolWithOptions("weather", "Current weather of a city.", citySchema, ext.ToolOptions{},
			func(ctx context.Context, args json.RawMessage) ext.ToolResult {
				<-ctx.Done()
				e.Notify("info", "gave up on "+city(args))
				return ext.TextResult("nobody reads this")
			})
	},
	"tool-panic": func(e *ext.Extension, _ int) {
		e.Tool("weather", "Current weather of a city.", citySchema, func(args json.RawMessage) ext.ToolResult {
			if city(args) == "" {
				panic("no city")
			}
			return ext.TextResult(city(args) + ": sun")
		})
	},
	"deferred": func(e *ext.Extension, _ int) {
		e.Tool("enable_weather", "Makes the weather tool available.", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
			res := ext.TextResult("The weather tool is there now.")
			res.ActivateTools = []string{"weather", "tides"}
			return res
		})
		e.DeferredTool("weather", "Current weather of a city.", citySchema, func(args json.RawMessage) ext.ToolResult {
			return ext.TextResult(city(args) + ": mist")
		})
	},

	"events": watch("session_start", "user_prompt_submit", "turn_start", "assistant_message", "tool_call", "turn_end",
		"tool_confirmation_requested", "permission_decision", "tool_result", "pre_compact", "post_compact",
		"model_changed", "session_end"),
	"events-plain": watch("session_start", "turn_start"),

	"intercept-tool-call-allow":       guardX(ext.ToolCallDecision{}),
	"intercept-tool-call-block-plain": guardX(ext.ToolCallDecision{Block: true}),
	"intercept-tool-call-origin":      guardX(ext.ToolCallDecision{}),
	"intercept-tool-call-rewrite":     guardX(ext.ToolCallDecision{ModifiedArgs: json.RawMessage(`{"command":"echo would run: rm -rf /tmp/foo"}`)}),
	"intercept-tool-call-block": func(e *ext.Extension, _ int) {
		e.InterceptToolCall(func(tool string, args json.RawMessage) (bool, string) {
			if tool == "bash" && strings.Contains(string(args), "rm -rf") {
				return false, "refused: matches \"rm -rf\"\nask the user first"
			}
			return true, ""
		})
	},
	"intercept-tool-call-panic": func(e *ext.Extension, _ int) {
		e.InterceptToolCall(func(string, json.RawMessage) (bool, string) { panic("no opinion") })
	},
	"intercept-turn-start-allow": gate(ext.TurnStartDecision{}),
	"intercept-turn-start-block": gate(ext.TurnStartDecision{Block: true, Reason: "the office is closed"}),

	"intercept-assistant-message-allow":   scrub,
	"intercept-assistant-message-replace": scrub,
	"intercept-assistant-message-block":   scrub,

	"before-agent-start-append":     restyle(func(p string) *string { p += "Prefer short functions."; return &p }),
	"before-agent-start-replace":    restyle(func(string) *string { return new("  \tSpeak like a pirate. \n") }),
	"before-agent-start-same":       restyle(func(p string) *string { return &p }),
	"before-agent-start-empty":      restyle(func(string) *string { return new("") }),
	"before-agent-start-keep":       restyle(func(string) *string { return nil }),
	"before-agent-start-from-empty": restyle(func(p string) *string { p += "Back again."; return &p }),
	"before-agent-start-panic":      restyle(func(string) *string { panic("no style") }),

	"panel-keys": func(e *ext.Extension, _ int) {
		command("pick", "", ext.OpenPanel("pick", "Pick", []string{"?"}, "any key"))(e, 0)
		e.OnPanelResize("pick", func(w, h int) { e.RenderPanel("pick", "", []string{fmt.Sprintf("%dx%d", w, h)}, "") })
		drawKeys(e)
	},
	"panel-own-escape": func(e *ext.Extension, _ int) {
		command("edit", "", ext.Response{Action: "open_panel", OpenPanel: &ext.Panel{ID: "pick", Keys: []string{"esc"}}})(e, 0)
		drawKeys(e)
	},
	"panel-spontaneous": func(e *ext.Extension, _ int) {
		e.Command("go", "", func(string) ext.Response {
			e.OpenPanel("news", "News", []string{"one", "two"}, "esc closes")
			e.RenderPanel("news", "Old news", []string{"three"}, "")
			e.ClosePanel("news")
			return ext.Noop()
		})
	},
	"notes": func(e *ext.Extension, _ int) {
		e.Command("noise", "", func(string) ext.Response {
			e.Notify("info", "looking")
			e.Notify("success", "cache is warm, 12 entries")
			e.Notify("warn", "slow")
			e.Notify("error", "gone")
			e.ClearNotes()
			return ext.Noop()
		})
	},
	"submit": func(e *ext.Extension, _ int) {
		e.Command("auto", "", func(string) ext.Response {
			e.Submit("Summarize what I selected.")
			e.Submit(" \n")
			e.Submit("/clear is only text here")
			return ext.Noop()
		})
	},

	"call-tool": func(e *ext.Extension, _ int) {
		counter(e)
		e.CommandContext("meta", "", func(ctx context.Context, _ string) ext.Response {
			res, err := e.CallTool(ctx, "read", nil)
			if err != nil || !res.IsError {
				return ext.Errorf("read: %v, %v", res, err)
			}
			return ext.Display("read failed: " + res.Content[0].Text)
		})
	},
	"call-tool-cancel": func(e *ext.Extension, _ int) {
		e.ToolWithOptions("count", "", json.RawMessage(anyObject), ext.ToolOptions{}, count(e))
	},
	"call-tool-unsupported": func(e *ext.Extension, _ int) {
		e.CommandContext("meta", "", func(ctx context.Context, _ string) ext.Response {
			_, err := e.CallTool(ctx, "read", nil)
			return ext.Errorf("%v", err)
		})
	},
	"request-fetch":                asker,
	"request-fetch-denied":         asker,
	"request-fetch-unknown-method": asker,

	"shutdown": func(*ext.Extension, int) {},
	"shutdown-answers": func(e *ext.Extension, _ int) {
		e.ToolWithOptions("slow", "", json.RawMessage(anyObject), ext.ToolOptions{},
			func(ctx context.Context, _ json.RawMessage) ext.ToolResult {
				<-ctx.Done()
				return ext.TextErrorResult("stopped early")
			})
	},
	"reload": func(e *ext.Extension, connection int) {
		name := []string{"old", "new"}[connection]
		command(name, "", ext.Display(name))(e, 0)
	},
}

func command(name, description string, res ext.Response) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		e.Command(name, description, func(string) ext.Response { return res })
	}
}

func weather(res ext.ToolResult) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		e.Tool("weather", "Current weather of a city.", citySchema, func(json.RawMessage) ext.ToolResult { return res })
	}
}

func city(args json.RawMessage) string {
	var in struct {
		City string `json:"city"`
	}
	json.Unmarshal(args, &in)
	return in.City
}

func watch(names ...string) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		for _, name := range names {
			e.On(name, func(ev ext.Event) { e.Notify("info", describe(ev)) })
		}
	}
}

func guardX(d ext.ToolCallDecision) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		e.InterceptToolCall(func(string, json.RawMessage) (bool, string) { return false, "the richer form was to be asked" })
		e.InterceptToolCallX(func(string, json.RawMessage) ext.ToolCallDecision { return d })
	}
}

func gate(d ext.TurnStartDecision) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		e.InterceptTurnStart(func(int) ext.TurnStartDecision { return d })
	}
}

func scrub(e *ext.Extension, _ int) {
	e.InterceptAssistantMessage(func(text string) ext.AssistantMessageDecision {
		if text == "FORBIDDEN" {
			return ext.AssistantMessageDecision{Block: true, Reason: "the message was withheld", ReplaceText: "unused"}
		}
		return ext.AssistantMessageDecision{ReplaceText: strings.ReplaceAll(text, "SECRET", "[redacted]")}
	})
}

func restyle(fn func(prompt string) *string) func(*ext.Extension, int) {
	return func(e *ext.Extension, _ int) {
		e.InterceptBeforeAgentStart(func(ev ext.BeforeAgentStartEvent) *string {
			if ev.SessionID != "session-123" || ev.AgentRunID != "run-456" || ev.CWD != "/proj" || ev.Provider != "anthropic" || ev.Model != "claude-opus-4-7" {
				return new(fmt.Sprintf("got %+v", ev))
			}
			return fn(ev.SystemPrompt)
		})
	}
}

func drawKeys(e *ext.Extension) {
	e.OnPanelKey("pick", func(key, text string) {
		e.RenderPanel("pick", "", []string{strings.TrimSpace(key + " " + text)}, "")
	}, func() { e.Notify("info", "closed") })
}

func counter(e *ext.Extension) {
	e.ToolWithOptions("count", "Counts lines.", json.RawMessage(anyObject), ext.ToolOptions{}, count(e))
}

func count(e *ext.Extension) ext.ToolHandler {
	return func(ctx context.Context, args json.RawMessage) ext.ToolResult {
		res, err := e.CallTool(ctx, "read", args)
		if err != nil {
			return ext.TextErrorResult(err.Error())
		}
		lines := strings.Count(res.Content[0].Text, "\n") + 1
		if res.Truncated {
			return ext.TextResult(fmt.Sprintf("%d lines, cut", lines))
		}
		return ext.TextResult(fmt.Sprintf("%d lines", lines))
	}
}

func asker(e *ext.Extension, _ int) {
	e.ToolWithOptions("ask", "", json.RawMessage(anyObject), ext.ToolOptions{}, func(ctx context.Context, _ json.RawMessage) ext.ToolResult {
		res, err := e.Fetch(ctx, ext.FetchRequest{URL: "https://api.example.com/v1", Method: "POST",
			Headers: map[string]string{"Accept": "application/json"}, Body: []byte(`{"q":1}`)})
		if err != nil {
			return ext.TextErrorResult(err.Error())
		}
		return ext.TextResult(fmt.Sprintf("%d %s", res.Status, res.Body))
	})
}

// pixel is the smallest of pictures.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
