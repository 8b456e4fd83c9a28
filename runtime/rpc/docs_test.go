package rpc_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/schemas"
)

const manual = "../../docs/rpc.md"

var fenced = regexp.MustCompile("(?ms)^(<!-- (\\w+) -->\n)?```json\n(.*?)^```$")

// manualLines returns the lines of the JSON in the manual, and those of the
// conversation at its beginning.
func manualLines(t *testing.T) (all, conversation []string) {
	t.Helper()
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		lines := strings.Split(strings.TrimSpace(m[3]), "\n")
		all = append(all, lines...)
		if m[2] == "conversation" {
			conversation = lines
		}
	}
	return all, conversation
}

// types lists the types that a schema knows.
func types(t *testing.T, schema string) map[string]bool {
	t.Helper()
	text, ok := schemas.Get(schema)
	if !ok {
		t.Fatal("no schema", schema)
	}
	var s struct {
		OneOf []struct {
			Properties struct {
				Type struct{ Const string }
			}
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, o := range s.OneOf {
		all[o.Properties.Type.Const] = true
	}
	return all
}

// Every line in the manual satisfies its schema and has only fields that the
// wire knows, and every command, response and event is shown.
func TestManualLines(t *testing.T) {
	commands, events := types(t, "rpc/command"), types(t, "rpc/event")
	if len(commands) < 18 || len(events) < 30 {
		t.Fatalf("the schemas have %d commands and %d events", len(commands), len(events))
	}
	shown := map[string]bool{}
	all, _ := manualLines(t)
	for _, line := range all {
		var head struct {
			Type, Command string
			Success       bool
		}
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		schema := "rpc/event"
		switch {
		case head.Type == "response":
			schema = "rpc/response"
			if head.Success {
				shown["response "+head.Command] = true
			}
		case commands[head.Type]:
			schema = "rpc/command"
		}
		shown[head.Type] = true
		for _, p := range schemas.Validate(schema, []byte(line)) {
			t.Errorf("%s: %s", line, p.Message)
		}
		checkFields(t, schema, line)
	}
	for name := range commands {
		if !shown[name] || !shown["response "+name] {
			t.Errorf("the manual does not show %s and its response", name)
		}
	}
	for name := range events {
		if !shown[name] {
			t.Errorf("the manual does not show the event %s", name)
		}
	}
}

// checkFields reads and writes a line again: a field that was not known is
// gone then.
func checkFields(t *testing.T, schema, line string) {
	t.Helper()
	var again []byte
	var err error
	if schema == "rpc/command" {
		var c rpcproto.Command
		if c, err = rpcproto.DecodeCommand([]byte(line)); err == nil {
			again, err = rpcproto.EncodeCommand(c)
		}
	} else {
		var r *rpcproto.Response
		var e rpcproto.Event
		if r, e, err = rpcproto.DecodeLine([]byte(line)); err == nil && r != nil {
			checkData(t, r)
			again, err = rpcproto.EncodeResponse(*r)
		} else if err == nil {
			again, err = rpcproto.EncodeEvent(e)
		}
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	var want, got any
	_ = json.Unmarshal([]byte(line), &want)
	_ = json.Unmarshal(again, &got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nis written as\n%s", line, again)
	}
}

// data has the type of each command's data.
var data = map[string]any{
	rpcproto.CmdHello: &rpcproto.HelloData{}, rpcproto.CmdPrompt: &rpcproto.StartedData{}, rpcproto.CmdCompact: &rpcproto.StartedData{},
	rpcproto.CmdGetState: &rpcproto.StateData{}, rpcproto.CmdGetMessages: &rpcproto.MessagesData{},
	rpcproto.CmdSetModel: &rpcproto.ModelData{}, rpcproto.CmdGetModels: &rpcproto.ModelsData{}, rpcproto.CmdPing: &rpcproto.PongData{},
	rpcproto.CmdGetCommands: &rpcproto.CommandsData{}, rpcproto.CmdRunCommand: &rpcproto.CommandResultData{},
	rpcproto.CmdReloadExtensions: &rpcproto.ReloadData{}, rpcproto.CmdGetExtensions: &rpcproto.ExtensionsData{},
}

func checkData(t *testing.T, r *rpcproto.Response) {
	t.Helper()
	if r.Data == nil {
		if r.Success && data[r.Command] != nil {
			t.Errorf("the response to %s has no data", r.Command)
		}
		return
	}
	into := data[r.Command]
	if into == nil {
		t.Errorf("the response to %s has data", r.Command)
		return
	}
	d := json.NewDecoder(strings.NewReader(string(r.Data)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", r.Data, err)
	}
}

// The conversation at the beginning of the manual is what a client sees.
func TestManualConversation(t *testing.T) {
	_, conversation := manualLines(t)
	times := regexp.MustCompile(`"time":"[^"]+"`)
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		var got, want []string
		for _, line := range conversation {
			if strings.Contains(line, `"type":"response"`) || strings.HasPrefix(line, `{"type"`) {
				want = append(want, times.ReplaceAllString(line, "TIME"))
				got = append(got, times.ReplaceAllString(<-c.lines, "TIME"))
				continue
			}
			c.send(line)
		}
		if len(want) < 10 {
			t.Errorf("the manual has %d lines of a conversation", len(want))
		}
		compare(t, got, want...)
		c.over()
	})
}
