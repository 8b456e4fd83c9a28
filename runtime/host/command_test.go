package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/tool"
)

func TestCommands(t *testing.T) {
	for _, c := range []struct{ response, want, fails string }{
		{response: `"action":"prompt","prompt":" do it\n"`, want: `{ext do it   false}`},
		{response: `"action":"insert","insert":" text "`, want: `{ext   text   false}`},
		{response: `"action":"display","display":"look"`, want: `{ext   look false}`},
		{response: `"action":"open_panel","open_panel":{"id":"p","title":"P","lines":["1"]}`, want: `{ext    true}`},
		{response: `"action":"open_panel"`, fails: "it asked to open a panel and sent none"},
		{response: `"action":"noop"`, want: `{ext    false}`},
		{response: `"action":""`, want: `{ext    false}`},
		{response: `"action":"dance"`, fails: `unknown action "dance"`},
		{response: `"action":"prompt","prompt":"x","error":"no network"`, fails: "no network"},
		{response: `"action":"dance","error":"no network"`, fails: "no network"},
		{
			response: `"action":"tool_prompt","tool_name":"bash","tool_args":{"command":"a"},"prompt":"explain "`,
			want:     "{ext explain\n\nResult of bash {\"command\":\"a\"}:\nran {\"command\":\"a\"}   false}",
		},
		{
			response: `"action":"tool_prompt","tool_name":"bash","tool_args":null,"prompt":"explain"`,
			want:     "{ext explain\n\nResult of bash {}:\nran {}   false}",
		},
		{response: `"action":"tool_prompt","tool_name":"bash","tool_args":["a"],"prompt":"explain"`, fails: "must be a JSON object"},
		{response: `"action":"tool_prompt","tool_name":"bash"`, fails: "tool_prompt needs tool_name and prompt"},
		{response: `"action":"tool_prompt","prompt":"explain"`, fails: "tool_prompt needs tool_name and prompt"},
	} {
		t.Run(c.response, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ext := plays("ext", `send {"type":"register_command","name":"Go"}`+"\n"+
					`on command_invoked`+"\n"+`send {"type":"command_response","id":"$id",`+c.response+`}`)
				r := newRig(t, setup{actors: []*actor{ext}, Options: host.Options{Tools: []tool.Tool{echo("bash")}}})
				r.WaitReady(t.Context())
				o, err := r.RunCommand(t.Context(), "gO", "  one  two ")
				switch {
				case c.fails != "":
					if err == nil || !strings.HasPrefix(err.Error(), "extension /gO: ") || !strings.Contains(err.Error(), c.fails) {
						t.Errorf("error %v, want it to say %s", err, c.fails)
					}
				case err != nil || fmt.Sprint(o) != c.want:
					t.Errorf("got %v, %v\nwant %s", o, err, c.want)
				}
				heard := ext.frames("type=command_invoked")
				if len(heard) != 1 || heard[0].str("name") != "Go" || heard[0].str("args") != "one  two" {
					t.Errorf("it heard %v", heard)
				}
				if n := len(emitted[event.ExtDisplay](r)); n != strings.Count(c.want, "look") {
					t.Errorf("%d displays", n)
				}
				if len(r.Transcript()) != 0 || len(r.model.asked()) != 0 {
					t.Error("the command left a trace in the conversation")
				}
			})
		})
	}
}

func TestUnknownCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{})
		if _, err := r.RunCommand(t.Context(), "go", ""); !errors.Is(err, extension.ErrUnknownCommand) {
			t.Errorf("error %v", err)
		}
	})
}

// A tool that a command asks for is judged like any other.
func TestToolPromptIsJudged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ext := plays("ext", `send {"type":"register_command","name":"go"}`+"\n"+`on command_invoked`+"\n"+
			`send {"type":"command_response","id":"$id","action":"tool_prompt","tool_name":"bash","prompt":"explain"}`)
		r := newRig(t, setup{actors: []*actor{ext}, Options: host.Options{
			Tools: []tool.Tool{echo("bash")}, Policy: denies{},
		}})
		r.WaitReady(t.Context())
		o, err := r.RunCommand(t.Context(), "go", "")
		if err != nil || !strings.HasSuffix(o.Prompt, "never here") {
			t.Errorf("got %+v, %v", o, err)
		}
		if res := emitted[event.ToolResult](r); len(res) != 1 || res[0].Executed {
			t.Errorf("results %+v", res)
		}
	})
}
