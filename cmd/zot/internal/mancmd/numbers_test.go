package mancmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// The numbers that authors of extensions are promised are those of the code.
func TestNumbersOfExtensions(t *testing.T) {
	var b strings.Builder
	b.WriteString("| what | value | setting |\n|---|---|---|\n")
	for _, n := range []struct{ what, value, setting string }{
		{"from the start to `hello`", "", "timeouts.hello"},
		{"from `hello_ack` to `ready`, at most", "", "timeouts.ready"},
		{"silence that counts as ready, after a registration", "", "timeouts.autoReady"},
		{"wait of the first request to a model for those that are not ready", "", "timeouts.readyWait"},
		{"answer to a command", "", "timeouts.command"},
		{"answer to a tool call, none for interactive tools; time for a `call_tool`", "", "timeouts.tool"},
		{"answer to an interception", "", "timeouts.intercept"},
		{"time in which a frame must be taken", "", "timeouts.write"},
		{"from `shutdown` to SIGTERM", "", "timeouts.shutdown"},
		{"from there to SIGKILL", "", "timeouts.term"},
		{"a line, either way", "", "limits.frame"},
		{"frames waiting for one extension", "", "limits.queueFrames"},
		{"bytes waiting for one extension", "", "limits.queueBytes"},
		{"size at which a log starts anew", "", "limits.log"},
		{"older logs that are kept", "", "limits.logFiles"},
		{"encoded `system_prompt` in an answer", config.Size(extproto.MaxSystemPrompt).String(), ""},
		{"result of `call_tool`, of a `tool_result` event", "256KiB", ""},
		{"depth of `call_tool`", "4", ""},
		{"open `request`s", "32", ""},
	} {
		value, setting := "`"+n.value+"`", ""
		if n.setting != "" {
			value, setting = defaultOf(key(t, n.setting)), "`"+n.setting+"`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n.what, value, setting)
	}
	woven(t, "extensions.md", "numbers", b.String())
}

func key(t *testing.T, name string) config.Key {
	t.Helper()
	for _, k := range config.Keys() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("there is no setting %s", name)
	return config.Key{}
}
