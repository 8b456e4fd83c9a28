package tui

import (
	"context"
	"time"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/dialog"
)

// Runtime is what the interface asks of the assembled runtime. No method of it
// blocks, reads a file or waits for an extension, except RunCommand, which is
// called beside the screen and may take as long as its context allows.
//
// What happens comes back as events, see [Options]. Further abilities are
// further interfaces (in abilities.go); a runtime without one of them makes the
// commands that need it say so.
type Runtime interface {
	// State is a copy of what the status line shows. After Submit returns it
	// reports Busy; it stops to do so before event.Done arrives.
	State() State
	// Transcript is the conversation so far, to be shown at the start and
	// after another session was opened.
	Transcript() []message.Message
	// Submit sends a prompt, or queues it while one is at work. The message
	// comes back as event.UserMessage when it enters the transcript.
	Submit(Prompt)
	// Queue lists the texts that wait, in order. TakeBackQueue empties the
	// queue and returns them.
	Queue() []string
	TakeBackQueue() []string
	// Cancel stops the prompt at work and the tools it runs. The queue is not
	// sent because of it.
	Cancel()
	// Commands lists the commands of extensions. The interface has its own
	// built-in ones, which win over them.
	Commands() []command.Command
	// RunCommand runs a command of an extension.
	RunCommand(ctx context.Context, name, args string) (Outcome, error)
	// PanelKey, PanelClosed and PanelResize tell an extension about its panel.
	// They put a frame in the extension's queue and return.
	PanelKey(ext, id, key, text string)
	PanelClosed(ext, id string)
	PanelResize(ext, id string, width, height int)
}

// A Prompt is what the user sends.
type Prompt struct {
	Text   string
	Images []message.Image
}

// State is what the interface shows of the runtime.
type State struct {
	Provider, Model string
	// Ready says that the model can be asked; if not, Hint says what to do.
	Ready bool
	Hint  string
	// Demo says that the model is the built-in one that needs no network.
	Demo          bool
	Cwd           string
	SessionID     string
	SessionTitle  string
	Busy          bool
	ContextUsed   int // tokens; 0 when unknown
	ContextWindow int // tokens; 0 when unknown
	CostUSD       float64
	CostKnown     bool
	// Permissions is a short word for how tools are confined ("jail", "yolo"),
	// or empty for the usual.
	Permissions string
}

// Ask is a question from the runtime; see [dialog.Ask].
type Ask = dialog.Ask

// An Outcome is what the command of an extension asks for.
type Outcome struct {
	// Action is one of the words of the extension protocol: "prompt", "insert",
	// "display", "open_panel", "noop".
	Action string
	// Text is the prompt, the text to insert or to display.
	Text string
	// Extension is the owner of the command.
	Extension string
}

// ReloadReport is what a reload of extensions did.
type ReloadReport struct {
	Stopped, Loaded, Ready int
	Errors                 []string // one line each, naming the extension
}

// ModelRow is a model to pick.
type ModelRow struct {
	Provider, ID, Name string
	ContextWindow      int
	Note               string // why it cannot be used now; or empty
}

// SessionRow is a conversation to open.
type SessionRow struct {
	Path, ID, Title string
	Updated         time.Time
	Messages        int
	Current         bool
}

// TreeRow is one message of a session with its forks, or the head of a fork;
// Depth indents it.
type TreeRow struct {
	ID, Text string
	Role     message.Role
	Depth    int
	Current  bool
	// Open is the path of the session that a fork's head opens; empty for a
	// message.
	Open string
}

// SkillRow is a skill.
type SkillRow struct{ Name, Description, Source string }

// ExtensionRow is an extension with its state in a word or two.
type ExtensionRow struct {
	Name, Version, Source, State, Detail string
	Commands, Tools                      int
	Theme                                bool
}

// AccountRow is a provider that credentials can be kept for.
type AccountRow struct {
	Provider, Name string
	LoggedIn       bool
	From           string // where the credentials in use come from
	Env            string // variable that would hold the key
	Note           string // why no key is needed or taken; or empty
}

// ThemeRow is a theme to pick.
type ThemeRow struct{ Name, Description string }

// SettingRow is a setting as it holds now.
type SettingRow struct {
	Key, Value string // Value as it would be typed; empty where nothing is set
	From       string // who set it
	Doc        string
	Options    []string // the values that there are; nil for any
	Own        bool     // the user's own settings have it
}

// Saved is what came of a setting that was saved.
type Saved struct {
	// Options are the interface's own with the new value; only those that can
	// change while it runs are looked at.
	Options Options
	// Note is what the user should know, such as that another layer decides.
	Note string
}
