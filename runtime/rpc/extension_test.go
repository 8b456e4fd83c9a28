package rpc_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// helper is an extension with one command for each action and a panel.
const helper = `
send {"type":"hello","name":"helper","version":"1"}
await hello_ack
send {"type":"register_command","name":"Ask","description":"ask the model"}
send {"type":"register_command","name":"paste"}
send {"type":"register_command","name":"show"}
send {"type":"register_command","name":"open"}
send {"type":"register_command","name":"rest"}
send {"type":"register_command","name":"fail"}
send {"type":"register_command","name":"odd"}
send {"type":"ready"}
on command_invoked contains "Ask","args":"two  words"
  send {"type":"command_response","id":"$id","action":"prompt","prompt":"/asked"}
on command_invoked contains "paste"
  send {"type":"command_response","id":"$id","action":"insert","insert":"pasted"}
on command_invoked contains "show"
  send {"type":"command_response","id":"$id","action":"display","display":"shown"}
on command_invoked contains "open"
  send {"type":"command_response","id":"$id","action":"open_panel","open_panel":{"id":"p","title":"Panel","lines":["one"],"footer":"f"}}
on command_invoked contains "fail"
  send {"type":"command_response","id":"$id","error":"out of luck"}
on command_invoked contains "odd"
  send {"type":"command_response","id":"$id","action":"dance"}
on command_invoked
  send {"type":"command_response","id":"$id"}
on panel_key contains "up"
  send {"type":"panel_render","panel_id":"p","lines":["two"]}
on panel_key contains "rune","text":"é"
  send {"type":"notify","level":"success","message":"got é"}
on panel_key contains "esc"
  send {"type":"panel_close","panel_id":"p"}
on panel_close
  send {"type":"clear_notes"}
on shutdown
  exit 0
`

// A client can list the commands of extensions and run each kind.
func TestCommands(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{extensions: map[string]string{"helper": helper}})
		c.wants(`{"id":1,"type":"get_commands"}`,
			`{"type":"response","id":1,"command":"get_commands","success":true,"data":{"commands":[`+
				`{"name":"Ask","description":"ask the model","extension":"helper"},{"name":"fail","extension":"helper"},`+
				`{"name":"odd","extension":"helper"},{"name":"open","extension":"helper"},{"name":"paste","extension":"helper"},`+
				`{"name":"rest","extension":"helper"},{"name":"show","extension":"helper"}]}}`)
		c.settle()
		run := func(name, args string) string {
			return `{"id":1,"type":"run_command","name":"` + name + `","args":"` + args + `"}`
		}
		ok := func(data string) string {
			return `{"type":"response","id":1,"command":"run_command","success":true,"data":` + data + `}`
		}
		c.wants(run("/paste", ""), ok(`{"action":"insert","text":"pasted"}`))
		c.wants(run("rest", ""), ok(`{"action":"noop"}`))
		c.wants(run("fail", ""), `{"type":"response","id":1,"command":"run_command","success":false,"error":"extension /fail: out of luck"}`)
		matches(t, c.ask(run("odd", "")), `"success":false,"error":"extension /odd: it answered with the unknown action \\"dance\\""`)
		c.send(run("show", ""))
		compare(t, c.until(`"response"`), `{"type":"ext_display","extension":"helper","text":"shown"}`, ok(`{"action":"display","text":"shown"}`))

		// A prompt is the client's to follow like its own, and plain text.
		c.send(run("ask", " two  words "))
		lines := c.until(`"done"`)
		compare(t, lines[:2], ok(`{"action":"prompt","text":"/asked"}`),
			`{"type":"user_message","content":[{"type":"text","text":"/asked"}],"time":"2000-01-01T00:00:00Z"}`)
		c.over()
	})
}

// Panels come and go as events, and keys reach them in order.
func TestPanels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{extensions: map[string]string{"helper": helper}})
		c.settle()
		open := `{"type":"run_command","name":"open"}`
		c.send(open)
		compare(t, c.until(`"response"`),
			`{"type":"ext_panel_open","extension":"helper","panel_id":"p","title":"Panel","lines":["one"],"footer":"f","asked":true}`,
			`{"type":"response","command":"run_command","success":true,"data":{"action":"open_panel"}}`)
		key := func(key string) string {
			return `{"type":"panel_key","panel_id":"p","key":` + key + `}`
		}
		c.send(key(`"up"`))
		compare(t, c.until(`"ext_panel_render"`), `{"type":"response","command":"panel_key","success":true}`,
			`{"type":"ext_panel_render","extension":"helper","panel_id":"p","title":"","lines":["two"],"footer":""}`)
		c.send(key(`"rune","text":"é"`))
		compare(t, c.until(`"ext_notify"`), `{"type":"response","command":"panel_key","success":true}`,
			`{"type":"ext_notify","extension":"helper","level":"success","message":"got é"}`)
		c.send(key(`"esc"`))
		c.until(`{"type":"ext_panel_close","extension":"helper","panel_id":"p"}`)
		matches(t, c.ask(key(`"up"`)), `"success":false,"error":"panel_key: no panel \\"p\\" is open"`)

		c.ask(open)
		c.send(`{"type":"panel_close","panel_id":"p"}`)
		compare(t, c.until(`"ext_clear_notes"`), `{"type":"response","command":"panel_close","success":true}`,
			`{"type":"ext_clear_notes","extension":"helper"}`)
		matches(t, c.ask(`{"type":"panel_close","panel_id":"p"}`), `"success":false`)
		c.over()
	})
}

// What an extension says before the first command, even before it is ready,
// is the first that the client reads.
func TestNothingSaidAtStartIsLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{extensions: map[string]string{
			"a": `
send {"type":"hello","name":"a"}
send {"type":"notify","level":"warn","message":"one"}
await hello_ack
send {"type":"notify","level":"info","message":"two"}
send {"type":"ready"}
on shutdown
  exit 0`,
			"b": "stderr no luck\nexit 3",
		}})
		synctest.Wait()
		lines := c.until(`"two"`)
		for _, want := range []string{
			`{"type":"ext_state","loading":2,"total":2}`,
			`{"type":"ext_notify","extension":"a","level":"warn","message":"one"}`,
		} {
			if !slices.Contains(lines, want) {
				t.Errorf("no %s in\n%s", want, strings.Join(lines, "\n"))
			}
		}
		matches(t, c.ask(`{"type":"get_extensions"}`),
			`"extensions":\[{"name":"a","version":"1","state":"ok"},{"name":"b","version":"1","state":"error","error":"it ended before its hello: exit status 3`)
		c.over()
	})
}

// Extensions are reloaded, one or all, and the client is told what came of it.
func TestReload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{extensions: map[string]string{"helper": helper, "dies": "exit 1"}})
		c.settle()
		c.wants(`{"id":1,"type":"reload_ext","name":"helper"}`,
			`{"type":"response","id":1,"command":"reload_ext","success":true,"data":{"stopped":1,"loaded":1,"ready":1}}`)
		c.send(`{"id":2,"type":"reload_ext"}`)
		lines := c.until(`"response"`)
		if want := `{"type":"ext_reloaded","stopped":2,"loaded":1,"ready":1,"failed":1}`; !slices.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(lines, "\n"))
		}
		matches(t, lines[len(lines)-1], `{"stopped":2,"loaded":1,"ready":1,"errors":\["dies: it ended before its hello: exit status 1`)
		matches(t, c.ask(`{"type":"run_command","name":"paste"}`), `"pasted"`)
		c.over()
	})
}

// The end of the input waits for a command of an extension, and for the prompt
// that it leads to.
func TestInputEndsDuringCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := `
send {"type":"hello","name":"slow"}
send {"type":"register_command","name":"slow"}
send {"type":"ready"}
on command_invoked
  pause 20s
  send {"type":"command_response","id":"$id","action":"prompt","prompt":"now"}
on shutdown
  exit 0`
		c := serve(t, setup{extensions: map[string]string{"slow": slow}})
		c.send(`{"type":"run_command","name":"slow"}`, `{"type":"ping"}`)
		lines, err := c.leave()
		if err != nil {
			t.Fatal(err)
		}
		kinds := kinds(lines)
		ping, run, done := slices.Index(kinds, "ok:ping"), slices.Index(kinds, "ok:run_command"), slices.Index(kinds, "done")
		if ping < 0 || run < ping || done < run {
			t.Errorf("ping at %d, run_command at %d, done at %d", ping, run, done)
		}
	})
}

// A turn that an extension refuses is an error with its reason, and done.
func TestBlockedTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := `
send {"type":"hello","name":"gate"}
send {"type":"subscribe","intercept":["turn_start"]}
send {"type":"ready"}
on event_intercept
  send {"type":"event_intercept_response","id":"$id","block":true,"reason":"not on Sundays"}
on shutdown
  exit 0`
		c := serve(t, setup{extensions: map[string]string{"gate": gate}})
		c.send(`{"type":"prompt","message":"x"}`)
		lines := c.until(`"done"`)
		compare(t, lines[len(lines)-3:], `{"type":"turn_end","stop":"error","error":"not on Sundays"}`,
			`{"type":"error","message":"turn blocked by gate: not on Sundays"}`, `{"type":"done"}`)
		c.over()
	})
}

// Text that an interceptor withholds does not reach the client, not in pieces
// either; what takes its place does.
func TestWithheldText(t *testing.T) {
	bubble(t, func(t *testing.T) {
		censor := `
send {"type":"hello","name":"censor"}
send {"type":"subscribe","intercept":["assistant_message"]}
send {"type":"ready"}
on event_intercept contains secret
  send {"type":"event_intercept_response","id":"$id","block":true,"reason":"a secret"}
on event_intercept
  send {"type":"event_intercept_response","id":"$id","replace_text":"better"}
on shutdown
  exit 0`
		m := newStage()
		c := serve(t, setup{model: m, extensions: map[string]string{"censor": censor}})
		c.send(`{"type":"prompt","message":"x"}`)
		m.say("a secret word")
		got := strings.Join(c.until(`"done"`), "\n")
		if strings.Contains(got, "secret word") {
			t.Errorf("the text got out:\n%s", got)
		}
		matches(t, got, `{"type":"assistant_message","content":\[\],"time":"[^"]*","suppressed":true,"reason":"a secret","by":"censor"}`)
		c.send(`{"type":"prompt","message":"x"}`)
		m.say("plain")
		got = strings.Join(c.until(`"done"`), "\n")
		matches(t, got, `(?s){"type":"text_delta","delta":"better"}.*"content":\[{"type":"text","text":"better"}\]`)
		if strings.Contains(got, "plain") {
			t.Errorf("the text got out:\n%s", got)
		}
		c.over()
	})
}
