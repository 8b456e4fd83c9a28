package tui

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
)

// sessionCommands are about conversations: which one, how much of it.
func sessionCommands() []builtin {
	sessions := def("sessions", "[text]", "pick a session to go on with", (*Model).pickSession)
	sessions.aliases = []string{"resume"}
	session := def("session", "export|import|fork|tree", "export, import, fork or walk this session", (*Model).sessionCommand)
	session.complete = also(fixedArgs("export: write it to a file", "import: open a file", "fork: go on in a copy", "tree: pick a message to fork from"), sessionFiles)
	jump := def("jump", "[text]", "go to an earlier prompt", (*Model).jump)
	compact := def("compact", "[what to keep]", "shorten the conversation", (*Model).compact)
	compact.stops = true
	fresh := def("new", "", "begin a new session", func(m *Model, _ string) {
		if s, ok := need[Sessions](m, "a new session"); ok {
			reload(m, "new session", s.NewSession)
		}
	})
	fresh.stops = true
	clear := def("clear", "", "empty the conversation", (*Model).clear)
	clear.stops = true
	btw := def("btw", "QUESTION", "ask aside: the answer does not enter the conversation", (*Model).aside)
	return []builtin{sessions, session, jump, compact, fresh, clear, btw}
}

// sessionFiles offers the files below the working folder that hold a session.
func sessionFiles(ctx context.Context, rt Runtime) ([]choice, error) {
	var out []choice
	for _, file := range fileList(ctx, rt.State().Cwd, true) {
		ext := path.Ext(file)
		if (ext == ".zotsession" || ext == ".jsonl") && file == screen.Line(file) {
			out = append(out, choice{text: "import " + file})
		}
	}
	return out, nil
}

// reload runs f and shows the conversation that is open after it.
func reload(m *Model, label string, f func(context.Context) error) {
	later(m, label, nothing(f), func(m *Model, _ struct{}) { m.reloadTranscript() })
}

func (m *Model) reloadTranscript() {
	m.transcript.Load(m.rt.Transcript())
	m.refresh()
	if m.transcript.Empty() {
		m.welcome()
	}
}

func (m *Model) pickSession(filter string) {
	s, ok := need[Sessions](m, "a list of sessions")
	if !ok {
		return
	}
	openLater(m, "sessions", s.Sessions, func(m *Model, rows []SessionRow) dialog.Dialog {
		p := &dialog.Picker{Title: "sessions", Hint: "enter opens", Pick: func(i int) {
			if rows[i].Current {
				return
			}
			m.stop()
			reload(m, "opening", func(ctx context.Context) error { return s.Resume(ctx, rows[i].Path) })
		}}
		start := 0
		for i, r := range rows {
			p.Items = append(p.Items, dialog.Item{Label: orID(r), Detail: sessionDetail(r, time.Now())})
			if r.Current {
				start = i
			}
		}
		return p.Filter(filter).Start(start)
	})
}

func orID(r SessionRow) string {
	if r.Title != "" {
		return r.Title
	}
	return r.ID
}

func sessionDetail(r SessionRow, now time.Time) string {
	text := fmt.Sprintf("%d messages, %s", r.Messages, ago(now.Sub(r.Updated)))
	if r.Current {
		text += ", open now"
	}
	return text
}

func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

func (m *Model) sessionCommand(args string) {
	s, ok := need[Sessions](m, "the session")
	if !ok {
		return
	}
	verb, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "export":
		later(m, "exporting", func(ctx context.Context) (string, error) { return s.Export(ctx, rest) },
			func(m *Model, path string) { m.transcript.Say("success", "session written to "+screen.Line(path)) })
	case "import":
		if rest == "" {
			m.transcript.Say("warn", "/session import FILE")
			return
		}
		m.stop()
		reload(m, "importing", func(ctx context.Context) error { return s.Import(ctx, rest) })
	case "fork":
		reload(m, "forking", func(ctx context.Context) error { return s.Fork(ctx, rest) })
	case "tree":
		m.sessionTree(s)
	case "":
		m.transcript.Say("", fmt.Sprintf("session %s %s", m.state.SessionID, screen.Line(m.state.SessionTitle)))
	default:
		m.transcript.Say("warn", fmt.Sprintf("/session knows export, import, fork and tree, not %q", screen.Line(verb)))
	}
}

func (m *Model) sessionTree(s Sessions) {
	openLater(m, "tree", s.Tree, func(m *Model, rows []TreeRow) dialog.Dialog {
		p := &dialog.Picker{Title: "session tree", Hint: "enter forks after a message or opens a fork", Pick: func(i int) {
			m.stop()
			if path := rows[i].Open; path != "" {
				reload(m, "opening", func(ctx context.Context) error { return s.Resume(ctx, path) })
				return
			}
			reload(m, "forking", func(ctx context.Context) error { return s.Fork(ctx, rows[i].ID) })
		}}
		start := 0
		for i, r := range rows {
			item := dialog.Item{Label: treeLabel(r), Indent: r.Depth}
			if r.Current {
				item.Detail = "here"
				start = i
			}
			p.Items = append(p.Items, item)
		}
		return p.Start(start)
	})
}

func treeLabel(r TreeRow) string {
	if r.Open != "" {
		return "fork: " + screen.Line(r.Text)
	}
	return string(r.Role) + ": " + screen.Line(r.Text)
}

// jump lists the prompts of this conversation, or goes to the last with text.
func (m *Model) jump(text string) {
	turns := m.transcript.Turns()
	if text != "" {
		for i := len(turns) - 1; i >= 0; i-- {
			if strings.Contains(strings.ToLower(turns[i].Text), strings.ToLower(text)) {
				m.transcript.Jump(turns[i].Index)
				return
			}
		}
		m.transcript.Say("warn", "no prompt has "+screen.Line(text)+" in it")
		return
	}
	p := &dialog.Picker{Title: "jump to", Pick: func(i int) { m.transcript.Jump(turns[i].Index) }}
	for _, t := range turns {
		p.Items = append(p.Items, dialog.Item{Label: t.Text})
	}
	m.dialog = p.Start(len(turns) - 1)
}

func (m *Model) compact(instructions string) {
	if c, ok := need[Compactor](m, "shortening"); ok {
		stoppable(m, "/compact", nothing(func(ctx context.Context) error { return c.Compact(ctx, instructions) }), nil)
	}
}

func (m *Model) clear(string) {
	c, ok := m.rt.(Clearer)
	if !ok {
		m.transcript.Clear()
		return
	}
	later(m, "", nothing(c.Clear), func(m *Model, _ struct{}) {
		m.transcript.Clear()
		m.status.clear()
	})
}

func (m *Model) aside(question string) {
	a, ok := need[Aside](m, "asking aside")
	if !ok {
		return
	}
	if question == "" {
		m.transcript.Say("warn", "/btw QUESTION")
		return
	}
	shown := m.transcript.Aside(question)
	answer := newGrowth()
	m.do(answer.follow(shown.Write, shown.End))
	stoppable(m, "/btw", nothing(func(ctx context.Context) error {
		defer answer.close()
		return a.Aside(ctx, question, answer.add)
	}), nil)
}
