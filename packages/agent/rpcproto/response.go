package rpcproto

import "encoding/json"

// A Response answers one command. Error says in a sentence why Success is
// false; Data is one of the Data types below, or absent.
type Response struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Command string          `json:"command,omitempty"`
	Success bool            `json:"success"`
	Data    json.RawMessage `json:"data,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// Succeed returns the response to c with the given data, or without any where
// data is nil.
func Succeed(c Command, data any) (Response, error) {
	r := Response{ID: c.ID, Command: c.Type, Success: true}
	if data == nil {
		return r, nil
	}
	raw, err := json.Marshal(data)
	r.Data = raw
	return r, err
}

// Fail returns the refusal of c.
func Fail(c Command, reason string) Response {
	return Response{ID: c.ID, Command: c.Type, Error: reason}
}

// ErrUnknownCommand is the Error of a response to a type that is no command.
const ErrUnknownCommand = "unknown command"

// The data of responses.
type (
	// HelloData answers hello.
	HelloData struct {
		ProtocolVersion int    `json:"protocol_version"`
		Version         string `json:"version"` // of zot
		Provider        string `json:"provider"`
		Model           string `json:"model"`
	}
	// StartedData answers prompt and compact: the work goes on in events.
	StartedData struct {
		Started bool `json:"started"`
		// Queued counts the prompts that run before this one.
		Queued int `json:"queued,omitempty"`
	}
	// StateData answers get_state.
	StateData struct {
		Provider     string     `json:"provider"`
		Model        string     `json:"model"`
		CWD          string     `json:"cwd"`
		MessageCount int        `json:"message_count"`
		Busy         bool       `json:"busy"`
		Usage        UsageCount `json:"usage"`
		Reasoning    string     `json:"reasoning,omitempty"`
		SessionID    string     `json:"session_id,omitempty"`
		Queued       int        `json:"queued,omitempty"`
	}
	// MessagesData answers get_messages.
	MessagesData struct {
		Messages []Message `json:"messages"`
	}
	// ModelData answers set_model.
	ModelData struct {
		Model string `json:"model"`
	}
	// ModelsData answers get_models.
	ModelsData struct {
		Models []Model `json:"models"`
	}
	// Model is one entry of ModelsData. Sizes are in tokens.
	Model struct {
		ID            string `json:"id"`
		Provider      string `json:"provider"`
		ContextWindow int    `json:"context_window"`
		MaxOutput     int    `json:"max_output"`
		Reasoning     bool   `json:"reasoning"`
	}
	// PongData answers ping.
	PongData struct {
		Pong bool `json:"pong"`
	}
	// CommandsData answers get_commands.
	CommandsData struct {
		Commands []SlashCommand `json:"commands"`
	}
	// SlashCommand is one command of an extension, its name without a slash.
	SlashCommand struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Extension   string `json:"extension"`
	}
	// CommandResultData answers run_command. Text belongs to the actions
	// prompt, insert and display; a panel is opened by an event.
	CommandResultData struct {
		Action string `json:"action"`
		Text   string `json:"text,omitempty"`
	}
	// ExtensionsData answers get_extensions.
	ExtensionsData struct {
		Extensions []Extension `json:"extensions"`
	}
	// ReloadData answers reload_ext.
	ReloadData struct {
		Stopped int      `json:"stopped"`
		Loaded  int      `json:"loaded"`
		Ready   int      `json:"ready"`
		Errors  []string `json:"errors,omitempty"`
	}
	// Extension is one entry of ExtensionsData.
	Extension struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		State   string `json:"state"`
		Error   string `json:"error,omitempty"`
	}
)
