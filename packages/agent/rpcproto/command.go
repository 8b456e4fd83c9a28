package rpcproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The commands of a client.
const (
	CmdHello        = "hello"         // token -> HelloData
	CmdPrompt       = "prompt"        // message, images -> StartedData, events, done
	CmdAbort        = "abort"         // ends the prompt in progress
	CmdCompact      = "compact"       // -> StartedData, compact_done, done
	CmdGetState     = "get_state"     // -> StateData
	CmdGetMessages  = "get_messages"  // -> MessagesData
	CmdClear        = "clear"         // forgets the transcript
	CmdSetModel     = "set_model"     // model -> ModelData
	CmdSetReasoning = "set_reasoning" // reasoning
	CmdGetModels    = "get_models"    // -> ModelsData
	CmdPing         = "ping"          // -> PongData

	// CmdConfirm answers a confirmation_request: request, answer, reason.
	CmdConfirm = "confirm"
	// CmdGetCommands lists the slash commands of extensions: CommandsData.
	CmdGetCommands = "get_commands"
	// CmdRunCommand runs one of them: name, args -> CommandResultData.
	CmdRunCommand = "run_command"
	// CmdPanelKey sends a key to the open panel: panel_id, key, text.
	CmdPanelKey = "panel_key"
	// CmdPanelClose closes the open panel: panel_id.
	CmdPanelClose = "panel_close"
	// CmdReloadExtensions restarts all extensions, or the one named: name.
	CmdReloadExtensions = "reload_ext"
	// CmdGetExtensions lists what runs: ExtensionsData.
	CmdGetExtensions = "get_extensions"
)

// CapConfirm is the capability of a client that answers confirmation_request.
const CapConfirm = "confirm"

// Answers to a confirmation_request.
const (
	AnswerYes        = "yes"
	AnswerAlwaysTool = "always_tool" // yes, and to each later call of this tool
	AnswerAlways     = "always"      // yes, and to each later call
	AnswerNo         = "no"
)

// A Command is a request of a client. Which fields count depends on Type.
type Command struct {
	// ID comes back in the response exactly as it was sent, a string or a
	// number. A command without one is answered without one.
	ID   json.RawMessage `json:"id,omitempty"`
	Type string          `json:"type"`

	Token string `json:"token,omitempty"`
	// Capabilities says in hello what the client can do: CapConfirm.
	Capabilities []string `json:"capabilities,omitempty"`

	Message   string  `json:"message,omitempty"`
	Images    []Image `json:"images,omitempty"`
	Model     string  `json:"model,omitempty"`
	Reasoning string  `json:"reasoning,omitempty"`

	Request string `json:"request,omitempty"`
	Answer  string `json:"answer,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Name    string `json:"name,omitempty"`
	Args    string `json:"args,omitempty"`
	PanelID string `json:"panel_id,omitempty"`
	Key     string `json:"key,omitempty"`
	Text    string `json:"text,omitempty"`
}

// An Image travels with a prompt. Data is base64 in JSON.
type Image struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"`
}

// StringID returns id as the ID of a command.
func StringID(id string) json.RawMessage {
	raw, err := json.Marshal(id)
	if err != nil {
		panic(err) // a string always encodes
	}
	return raw
}

// DecodeCommand decodes one line of a client. With an error the command holds
// its ID and Type as far as they could be read, so that the refusal can name
// them.
func DecodeCommand(line []byte) (Command, error) {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf"))
	var c Command
	if err := json.Unmarshal(line, &c); err != nil {
		return head(line), explain(line, err)
	}
	if err := checkID(c.ID); err != nil {
		return Command{Type: c.Type}, err
	}
	if string(c.ID) == "null" {
		c.ID = nil
	}
	if c.Type == "" {
		return c, errors.New(`the command has no "type"`)
	}
	return c, nil
}

// explain says what is wrong with a line in the words of JSON.
func explain(line []byte, err error) error {
	var mistyped *json.UnmarshalTypeError
	switch {
	case !json.Valid(line):
		return fmt.Errorf("invalid JSON: %w", err)
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return fmt.Errorf("a command is a JSON object, not a JSON %s", mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("field %q: a JSON %s does not belong there", mistyped.Field, mistyped.Value)
	}
	return fmt.Errorf("the command cannot be read: %w", err)
}

// head reads the ID and Type of a command whose other fields are mistyped.
func head(line []byte) Command {
	var h map[string]json.RawMessage
	if json.Unmarshal(line, &h) != nil {
		return Command{}
	}
	c := Command{}
	if checkID(h["id"]) == nil && string(h["id"]) != "null" {
		c.ID = h["id"]
	}
	_ = json.Unmarshal(h["type"], &c.Type) // a mistyped type stays empty
	return c
}

func checkID(id json.RawMessage) error {
	if len(id) == 0 || string(id) == "null" || id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9' {
		return nil
	}
	return fmt.Errorf(`field "id": must be a string or a number, got %.40s`, id)
}
