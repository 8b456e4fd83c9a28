package tui

import (
	"context"

	"github.com/patriceckhart/zot/runtime/theme"
)

// The abilities that a [Runtime] may have besides. Their methods are called
// beside the screen, never from the drawing loop, and may take their time until
// the context ends.
type (
	// Models lists and changes the model.
	Models interface {
		Models(ctx context.Context) ([]ModelRow, error)
		SetModel(ctx context.Context, provider, id string) error
	}
	// Sessions opens, forks and carries conversations. After Resume, NewSession,
	// Fork and Import the interface shows Runtime.Transcript anew.
	Sessions interface {
		Sessions(ctx context.Context) ([]SessionRow, error)
		Resume(ctx context.Context, path string) error
		NewSession(ctx context.Context) error
		// Fork begins a copy of the conversation up to the message with that
		// id; all of it when id is empty.
		Fork(ctx context.Context, id string) error
		Tree(ctx context.Context) ([]TreeRow, error)
		// Export writes the session and returns where; path may be empty.
		Export(ctx context.Context, path string) (string, error)
		Import(ctx context.Context, path string) error
	}
	// Clearer empties the conversation and keeps the session file.
	Clearer interface {
		Clear(ctx context.Context) error
	}
	// Compactor shortens the conversation; events report it.
	Compactor interface {
		Compact(ctx context.Context, instructions string) error
	}
	// Skills lists skills and puts one to use: UseSkill submits it.
	Skills interface {
		Skills(ctx context.Context) ([]SkillRow, error)
		UseSkill(ctx context.Context, name, args string) error
	}
	// Themes lists themes, loads one, and remembers the choice.
	Themes interface {
		Themes(ctx context.Context) ([]ThemeRow, error)
		LoadTheme(ctx context.Context, name string) (*theme.Theme, error)
		SaveTheme(ctx context.Context, name string) error
	}
	// Extensions lists and reloads extensions; an empty name reloads all.
	Extensions interface {
		Extensions(ctx context.Context) ([]ExtensionRow, error)
		Reload(ctx context.Context, name string) (ReloadReport, error)
	}
	// Accounts keeps credentials.
	Accounts interface {
		Accounts(ctx context.Context) ([]AccountRow, error)
		Login(ctx context.Context, provider, key string) error
		// Logout forgets the credentials of a provider, or of "all".
		Logout(ctx context.Context, provider string) error
	}
	// Permissions changes how tools are confined: "jail", "unjail", "yolo" or
	// "ask". The sentence that comes back says what holds now.
	Permissions interface {
		SetPermissions(ctx context.Context, mode string) (string, error)
	}
	// Settings lists what can be set and saves a value, for good and in the
	// user's own settings.
	Settings interface {
		Settings(ctx context.Context) ([]SettingRow, error)
		// SaveSetting writes a value as it was typed; without one it takes the
		// setting out, so that what is below it holds again.
		SaveSetting(ctx context.Context, key string, value *string) (Saved, error)
	}
	// Reports are texts in Markdown on a topic: "policy", "trust", "doctor".
	// args is what followed the command.
	Reports interface {
		Report(ctx context.Context, topic, args string) (string, error)
	}
	// Aside answers a question about the conversation without becoming a part
	// of it. onText is told the answer as it grows.
	Aside interface {
		Aside(ctx context.Context, question string, onText func(string)) error
	}
	// Shell runs a command of the user's own and makes it and its output known
	// to the model with the next prompt. Output may be long; exit is its status.
	Shell interface {
		Shell(ctx context.Context, command string) (output string, exit int, err error)
	}
)
