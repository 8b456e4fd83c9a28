package plain

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/screen"
)

// command runs a command. Those that are about a screen do not exist here.
func (s *surface) command(name, args string) {
	if f, ok := commands()[name]; ok {
		f(s, args)
		return
	}
	if skill, ok := strings.CutPrefix(name, "skill:"); ok {
		if k, ok := need[tui.Skills](s, "skills"); ok {
			beside(s, only(func(ctx context.Context) error { return k.UseSkill(ctx, skill, args) }), nil)
		}
		return
	}
	for _, c := range tui.BuiltinCommands() {
		if command.Fold(c.Name) == name {
			s.line("/%s is about the screen, and there is none here; /help lists what there is.", name)
			return
		}
	}
	for _, c := range s.rt.Commands() {
		if command.Fold(c.Name) == name {
			s.extension(c, args)
			return
		}
	}
	s.extension(command.Command{Name: name}, args) // the runtime knows of those on their way
}

func (s *surface) extension(c command.Command, args string) {
	beside(s, func(ctx context.Context) (tui.Outcome, error) { return s.rt.RunCommand(ctx, c.Name, args) }, func(o tui.Outcome) {
		switch o.Action {
		case "prompt":
			if text := strings.TrimSpace(o.Text); text != "" {
				s.rt.Submit(tui.Prompt{Text: text})
			}
		case "insert":
			s.line("not sent: %s", o.Text)
		case "display":
			s.printer.whole("["+screen.Line(c.Extension)+"]", o.Text)
		}
	})
}

func need[A any](s *surface, what string) (A, bool) {
	a, ok := s.rt.(A)
	if !ok {
		s.line("%s is not available here.", what)
	}
	return a, ok
}

func only(f func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }
}

// then prints a sentence when f has done its work.
func (s *surface) then(sentence string, f func(context.Context) error) {
	beside(s, only(f), func(struct{}) { s.line("%s", sentence) })
}

// commands is the table of what can be done here.
func commands() map[string]func(*surface, string) {
	leave := func(s *surface, _ string) { s.over = true }
	report := func(topic string) func(*surface, string) {
		return func(s *surface, args string) {
			if r, ok := need[tui.Reports](s, "/"+topic); ok {
				beside(s, func(ctx context.Context) (string, error) { return r.Report(ctx, topic, args) }, func(text string) { s.line("%s", text) })
			}
		}
	}
	permission := func(mode string) func(*surface, string) {
		return func(s *surface, args string) {
			mode := mode
			if mode == "yolo" && strings.TrimSpace(args) == "off" {
				mode = "ask"
			}
			if p, ok := need[tui.Permissions](s, "changing permissions"); ok {
				beside(s, func(ctx context.Context) (string, error) { return p.SetPermissions(ctx, mode) }, func(text string) { s.line("%s", text) })
			}
		}
	}
	return map[string]func(*surface, string){
		"exit": leave, "quit": leave, "q": leave,
		"help": (*surface).help, "model": (*surface).model, "sessions": (*surface).sessions, "resume": (*surface).sessions,
		"session": (*surface).session, "new": (*surface).fresh, "clear": (*surface).clear, "compact": (*surface).compact,
		"btw": (*surface).aside, "reload-ext": (*surface).reload, "ext": (*surface).extensions, "skills": (*surface).skills,
		"cost": (*surface).cost, "copy": (*surface).copy, "login": (*surface).login, "logout": (*surface).logout,
		"policy": report("policy"), "trust": report("trust"), "config": (*surface).settings, "settings": (*surface).settings, "doctor": report("doctor"),
		"jail": permission("jail"), "unjail": permission("unjail"), "yolo": permission("yolo"),
		"stop": func(s *surface, _ string) {
			if s.busy {
				s.stop()
			}
		},
	}
}

func (s *surface) help(string) {
	have := commands()
	for _, c := range tui.BuiltinCommands() {
		if _, ok := have[c.Name]; ok {
			s.line("/%s: %s", strings.TrimSpace(c.Name+" "+c.Args), c.Description)
		}
	}
	s.line("/stop: stop the turn, as ctrl+c does")
	for _, c := range s.rt.Commands() {
		s.line("/%s: %s (%s)", screen.Line(c.Name), screen.Line(c.Description), screen.Line(c.Extension))
	}
	s.line("!COMMAND: run a command; the model sees its output")
}

func (s *surface) model(name string) {
	models, ok := need[tui.Models](s, "a list of models")
	if !ok {
		return
	}
	beside(s, models.Models, func(rows []tui.ModelRow) {
		set := func(r tui.ModelRow) {
			s.then("model: "+r.ID, func(ctx context.Context) error { return models.SetModel(ctx, r.Provider, r.ID) })
		}
		var labels []string
		for _, r := range rows {
			if r.ID == name || r.Provider+"/"+r.ID == name {
				set(r)
				return
			}
			labels = append(labels, strings.TrimSpace(r.ID+", "+r.Provider+" "+r.Note))
		}
		s.offer("models", labels, func(i int) { set(rows[i]) })
	})
}

func (s *surface) sessions(string) {
	sess, ok := need[tui.Sessions](s, "a list of sessions")
	if !ok {
		return
	}
	beside(s, sess.Sessions, func(rows []tui.SessionRow) {
		var labels []string
		for _, r := range rows {
			title := r.Title
			if title == "" {
				title = r.ID
			}
			labels = append(labels, fmt.Sprintf("%s, %d messages, %s", title, r.Messages, r.Updated.Format("2 Jan 15:04")))
		}
		s.offer("sessions", labels, func(i int) {
			s.then("opened.", func(ctx context.Context) error { return sess.Resume(ctx, rows[i].Path) })
		})
	})
}

func (s *surface) session(args string) {
	sess, ok := need[tui.Sessions](s, "the session")
	if !ok {
		return
	}
	verb, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "export":
		beside(s, func(ctx context.Context) (string, error) { return sess.Export(ctx, rest) }, func(path string) { s.line("session written to %s", path) })
	case "import":
		s.then("opened.", func(ctx context.Context) error { return sess.Import(ctx, rest) })
	case "fork":
		s.then("forked.", func(ctx context.Context) error { return sess.Fork(ctx, rest) })
	case "tree":
		beside(s, sess.Tree, func(rows []tui.TreeRow) {
			var labels []string
			for _, r := range rows {
				if r.Open != "" {
					r.Role = "fork"
				}
				labels = append(labels, strings.Repeat("  ", r.Depth)+string(r.Role)+": "+r.Text)
			}
			s.offer("messages to fork from, and forks to open", labels, func(i int) {
				if path := rows[i].Open; path != "" {
					s.then("opened.", func(ctx context.Context) error { return sess.Resume(ctx, path) })
					return
				}
				s.then("forked.", func(ctx context.Context) error { return sess.Fork(ctx, rows[i].ID) })
			})
		})
	default:
		s.line("/session export, import FILE, fork or tree")
	}
}

func (s *surface) fresh(string) {
	if sess, ok := need[tui.Sessions](s, "a new session"); ok {
		if s.busy {
			s.stop()
		}
		s.then("new session.", sess.NewSession)
	}
}

func (s *surface) clear(string) {
	if c, ok := need[tui.Clearer](s, "emptying the conversation"); ok {
		if s.busy {
			s.stop()
		}
		s.then("the conversation is empty.", c.Clear)
	}
}

func (s *surface) compact(what string) {
	if c, ok := need[tui.Compactor](s, "shortening"); ok {
		beside(s, only(func(ctx context.Context) error { return c.Compact(ctx, what) }), nil)
	}
}

func (s *surface) aside(question string) {
	if a, ok := need[tui.Aside](s, "asking aside"); ok && question != "" {
		beside(s, func(ctx context.Context) (string, error) {
			var b strings.Builder
			err := a.Aside(ctx, question, func(t string) { b.WriteString(t) })
			return b.String(), err
		}, func(text string) { s.printer.whole("aside", text) }) // lines of two answers must not mix
	}
}

func (s *surface) reload(name string) {
	if e, ok := need[tui.Extensions](s, "reloading extensions"); ok {
		if s.busy {
			s.stop()
		}
		beside(s, func(ctx context.Context) (tui.ReloadReport, error) { return e.Reload(ctx, name) }, func(r tui.ReloadReport) {
			text := fmt.Sprintf("reloaded: %d stopped, %d loaded (%d ready)", r.Stopped, r.Loaded, r.Ready)
			if n := len(r.Errors); n > 0 { // each is told of by an event of its own
				text += fmt.Sprintf(", %d failed", n)
			}
			s.line("%s", text)
		})
	}
}

func (s *surface) extensions(string) {
	if e, ok := need[tui.Extensions](s, "a list of extensions"); ok {
		beside(s, e.Extensions, func(rows []tui.ExtensionRow) {
			if len(rows) == 0 {
				s.line("no extensions are installed.")
			}
			for _, r := range rows {
				s.line("%s %s: %s %s, %d commands, %d tools, from %s", r.Name, r.Version, r.State, r.Detail, r.Commands, r.Tools, r.Source)
			}
		})
	}
}

func (s *surface) skills(string) {
	if k, ok := need[tui.Skills](s, "a list of skills"); ok {
		beside(s, k.Skills, func(rows []tui.SkillRow) {
			for _, r := range rows {
				s.line("/skill:%s: %s", r.Name, r.Description)
			}
		})
	}
}

// settings lists them, or saves one.
func (s *surface) settings(args string) {
	set, ok := need[tui.Settings](s, "changing settings")
	if !ok {
		return
	}
	key, value, given := strings.Cut(strings.TrimSpace(args), " ")
	if given {
		value = strings.TrimSpace(value)
		beside(s, func(ctx context.Context) (tui.Saved, error) { return set.SaveSetting(ctx, key, &value) }, func(saved tui.Saved) {
			s.line("%s", strings.TrimSuffix(key+" saved. "+saved.Note, " "))
		})
		return
	}
	beside(s, set.Settings, func(rows []tui.SettingRow) {
		for _, r := range rows {
			if strings.Contains(r.Key, key) {
				s.line("%s: %s (%s)", r.Key, r.Value, r.From)
			}
		}
	})
}

func (s *surface) cost(string) {
	st := s.rt.State()
	s.line("context: %d of %d tokens", st.ContextUsed, st.ContextWindow)
	if st.CostKnown {
		s.line("cost: $%.4f", st.CostUSD)
	}
}

func (s *surface) copy(args string) {
	_, file, _ := strings.Cut(strings.TrimSpace(args), " ")
	if file == "" {
		s.line("/copy answer FILE writes the last answer to a file")
		return
	}
	text := ""
	for _, m := range s.rt.Transcript() {
		if m.Role == "assistant" && strings.TrimSpace(m.Text()) != "" {
			text = m.Text()
		}
	}
	s.then("written to "+file, func(context.Context) error { return os.WriteFile(file, []byte(text+"\n"), 0o600) })
}

// login does not read a key: what is typed here is shown.
func (s *surface) login(string) {
	s.line("a key typed here would be shown: leave, and run zot login, or set the provider's variable.")
}

func (s *surface) logout(provider string) {
	if a, ok := need[tui.Accounts](s, "keeping keys"); ok {
		if provider == "" {
			s.line("/logout PROVIDER, or all")
			return
		}
		s.then("forgot the key of "+provider, func(ctx context.Context) error { return a.Logout(ctx, provider) })
	}
}
