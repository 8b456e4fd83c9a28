package tui

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/picture"
	"github.com/patriceckhart/zot/tui/style"
)

// A Fact is one thing about the terminal, for a report. Advice says what could
// be better and how; it is empty where all is well.
type Fact struct{ Name, Value, Advice string }

// TerminalFacts tells what the interface makes of the terminal that env and out
// describe, and of the user's bindings. It asks the terminal nothing.
func TerminalFacts(env []string, out io.Writer, bindings map[string]string) []Fact {
	e := readEnvironment(env)
	value := func(name string) string {
		if v := e.vars[name]; v != "" {
			return v
		}
		return "not set"
	}
	facts := []Fact{{Name: "TERM", Value: value("TERM")}, {Name: "COLORTERM", Value: value("COLORTERM")}}
	if e.dumb {
		facts[0].Advice = "the line-oriented surface is used: this terminal cannot place its cursor"
	}
	profile := profileOf(colorprofile.Detect(out, env))
	colours := Fact{Name: "colours", Value: map[style.Profile]string{style.TrueColor: "24 bit", style.ANSI256: "256", style.ANSI16: "16", style.Mono: "none"}[profile]}
	switch {
	case e.noColor:
		colours.Value = "none (NO_COLOR or TERM=dumb)"
	case profile == style.ANSI16:
		colours.Advice = "sixteen colours look as your terminal's palette has them; themes choose among them only"
	}
	facts = append(facts, colours)
	utf8 := Fact{Name: "UTF-8", Value: "yes"}
	if e.ascii {
		utf8 = Fact{Name: "UTF-8", Value: "no", Advice: "LC_ALL, LC_CTYPE or LANG names another encoding; set LANG=C.UTF-8 for full glyphs"}
	}
	facts = append(facts, utf8, multiplexer(e), Fact{Name: "pictures", Value: yesNo(picture.Of(e.vars) != picture.None)})
	if _, problems := keys.NewMap(bindings); len(problems) > 0 {
		facts = append(facts, Fact{Name: "keymap", Value: fmt.Sprintf("%d problems", len(problems)), Advice: strings.Join(problems, "\n")})
	} else {
		facts = append(facts, Fact{Name: "keymap", Value: "fine"})
	}
	return facts
}

func multiplexer(e environment) Fact {
	switch {
	case e.vars["TMUX"] != "":
		return Fact{Name: "multiplexer", Value: "tmux", Advice: "shift+enter needs `set -s extended-keys on`; ctrl+j makes a new line everywhere"}
	case e.vars["STY"] != "":
		return Fact{Name: "multiplexer", Value: "GNU screen", Advice: "`altscreen on` gives the screen back as it was; ctrl+a is screen's own key"}
	case e.vars["ZELLIJ"] != "":
		return Fact{Name: "multiplexer", Value: "zellij"}
	}
	return Fact{Name: "multiplexer", Value: "none"}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
