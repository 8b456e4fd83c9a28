// Package doctorcmd is "zot doctor": it looks at everything zot depends on and
// says of each whether it is well, and if not, what to do.
//
// A check is a function that returns lines; each subject is a file. Nothing is
// changed, no extension is started, no program that prints a key is run, and
// the network is left alone unless --network asks for it.
package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/schemas"
)

// Deps is what the command needs from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Open finds the place to work in; home and cwd are the values of the
	// flags, or empty.
	Open func(home, cwd string) (*workspace.Workspace, error)
	// Version is zot's own, which manifests may ask to be new enough.
	Version string
	// Provider says what a run would ask a model with. Its Stored is used with
	// --network only.
	Provider func(*workspace.Workspace) (provider.Options, error)
	// Skills finds the skills of a session; nil leaves them out of the report.
	Skills func(*workspace.Workspace) *skill.Set
}

// A State says how a check went.
type State string

// The states. Only Wrong makes the command fail.
const (
	OK    State = "ok"
	Info  State = "info"  // a fact, neither good nor bad
	Hint  State = "hint"  // it works, and could be better
	Wrong State = "wrong" // something that was asked for does not work
)

// A Line is the outcome of one check.
type Line struct {
	Subject string `json:"subject"` // "terminal"
	Name    string `json:"name"`
	State   State  `json:"state"`
	Value   string `json:"value"`
	// Advice says what to do; empty where there is nothing to do.
	Advice string `json:"advice,omitempty"`
}

// A visit is one run of the doctor.
type visit struct {
	Deps
	ctx     context.Context
	w       *workspace.Workspace
	out     io.Writer // of the terminal that is looked at
	subject string
	lines   []Line
}

func (v *visit) add(name string, state State, value, advice string) {
	v.lines = append(v.lines, Line{Subject: v.subject, Name: name, State: state, Value: value, Advice: advice})
}

// subjects are what is looked at, in the order of the report.
var subjects = []struct {
	name string
	look func(*visit)
}{
	{"zot", (*visit).zot}, {"system", (*visit).system}, {"terminal", (*visit).terminal}, {"home", (*visit).home},
	{"settings", (*visit).settings}, {"model", (*visit).model}, {"policy", (*visit).policy},
	{"extensions", (*visit).extensions}, {"skills", (*visit).skills}, {"theme", (*visit).theme}, {"sandbox", (*visit).sandbox},
}

// New returns "zot doctor".
func New(d Deps) *cobra.Command {
	var home, cwd string
	var network, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything zot depends on, and say what to do where something is wrong",
		Long: `Looks at the system, the terminal, zot's home, the settings, the model that would
be used, the policy, the extensions, the skills, the theme and the sandbox. Names of
credentials are shown, never what they hold. Nothing is changed or started, and
the network is left alone unless --network is given, which asks the model's
provider for its list of models.

Status 1 where something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := d.Open(home, cwd)
			if err != nil {
				return err
			}
			lines := Examine(cmd.Context(), d, w, network)
			if asJSON {
				err = d.Streams.WriteJSON(lines)
			} else {
				err = write(d.Streams, lines)
			}
			if err != nil {
				return err
			}
			return verdict(lines)
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "folder of zot's state")
	cmd.Flags().StringVar(&cwd, "cwd", "", "folder to work in")
	cmd.Flags().BoolVar(&network, "network", false, "also ask the model's provider whether it can be reached")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	return cmd
}

// networkTime bounds the question to the provider.
const networkTime = 15 * time.Second

// Examine looks at everything and returns the report, for the command and for
// an interface that shows it.
func Examine(ctx context.Context, d Deps, w *workspace.Workspace, network bool) []Line {
	v := &visit{Deps: d, ctx: ctx, w: w, out: d.Streams.Out}
	for _, s := range subjects {
		v.subject = s.name
		s.look(v)
	}
	if network {
		v.subject = "network"
		v.network()
	}
	return v.lines
}

// verdict is the status that the report stands for.
func verdict(lines []Line) error {
	if slices.ContainsFunc(lines, func(l Line) bool { return l.State == Wrong }) {
		return &exit.Error{Code: exit.Failed, Err: errors.New("something is wrong"), Silent: true}
	}
	return nil
}

// marks stand before a line, and colours say the same once more.
var marks = map[State]struct{ sign, sgr string }{
	OK: {"ok", "32"}, Info: {"--", "2"}, Hint: {"!", "33"}, Wrong: {"wrong", "31"},
}

func write(s *iostreams.Streams, lines []Line) error {
	var b strings.Builder
	subject, width := "", 0
	for _, l := range lines {
		width = max(width, len(l.Name))
	}
	for _, l := range lines {
		if l.Subject != subject {
			if subject != "" {
				b.WriteString("\n")
			}
			subject = l.Subject
			b.WriteString(s.Style(s.Out, "1", subject) + "\n")
		}
		m := marks[l.State]
		fmt.Fprintf(&b, "  %s %-*s  %s\n", s.Style(s.Out, m.sgr, fmt.Sprintf("%-5s", m.sign)), width, schemas.Printable(l.Name), schemas.Printable(l.Value))
		for line := range strings.Lines(l.Advice) {
			fmt.Fprintf(&b, "        %s\n", schemas.Printable(strings.TrimRight(line, "\n")))
		}
	}
	b.WriteString("\n" + summary(lines) + "\n")
	_, err := io.WriteString(s.Out, b.String())
	return err
}

func summary(lines []Line) string {
	count := map[State]int{}
	for _, l := range lines {
		count[l.State]++
	}
	switch {
	case count[Wrong] > 0:
		return fmt.Sprintf("%d wrong, %d could be better", count[Wrong], count[Hint])
	case count[Hint] > 0:
		return fmt.Sprintf("all works, %d could be better", count[Hint])
	}
	return "all is well"
}
