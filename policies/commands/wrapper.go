package commands

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A step is what a command runs in turn.
type step struct {
	calls   []call
	scripts []string
	// through says that the command does nothing but run these, so that it
	// needs no rule of its own.
	through bool
	// blind is why it cannot be known what is run; empty if it can.
	blind string
}

// A wrapper describes the options of a program that runs the command in its
// remaining words. An option that is not listed makes it blind, since it may
// take a word, write a file or mean another command.
type wrapper struct {
	flags string // letters without a value
	args  string // letters with one
	long  string // names without a value, separated by spaces
	longs string // names with one
	skip  int    // words between the options and the command
	env   bool   // NAME=VALUE may stand before the command
	// rights: it gives the command more rights, so it needs a rule of its own.
	rights bool
}

var wrappers = map[string]wrapper{
	"timeout":  {flags: "vfp", args: "ks", long: "foreground preserve-status verbose", longs: "kill-after signal", skip: 1},
	"time":     {flags: "pv", long: "portability verbose"},
	"nice":     {args: "n", longs: "adjustment"},
	"ionice":   {flags: "t", args: "cn", long: "ignore", longs: "class classdata"},
	"nohup":    {},
	"setsid":   {flags: "cfw", long: "ctty fork wait"},
	"stdbuf":   {args: "ioe", longs: "input output error"},
	"command":  {flags: "p"},
	"builtin":  {},
	"exec":     {flags: "cl", args: "a"},
	"env":      {flags: "i0v", args: "u", long: "ignore-environment null debug", longs: "unset", env: true},
	"sudo":     {flags: "nHkKEbSA", args: "ugpCT", long: "non-interactive preserve-env set-home", longs: "user group", env: true, rights: true},
	"doas":     {flags: "nL", args: "uC", rights: true},
	"flock":    {flags: "esxnuFv", args: "wE", long: "exclusive shared nonblock unlock no-fork verbose", longs: "timeout conflict-exit-code", skip: 1},
	"taskset":  {flags: "ac", long: "all-tasks cpu-list", skip: 1},
	"chrt":     {flags: "abdfiorv", args: "TPD", skip: 1},
	"fakeroot": {},
	"strace":   {flags: "fqrtTxyv", args: "es"},
	"chroot":   {longs: "userspec groups", skip: 1, rights: true},
	"busybox":  {},
	"toybox":   {},
}

// shells read what is parsed here.
var shells = []string{"sh", "bash", "dash", "ksh", "ash", "mksh"}

// Reads tells whether a shell, given by its path or name, reads a command line
// as it is judged here. An empty name stands for one that does.
func Reads(shell string) bool {
	name := path.Base(strings.ReplaceAll(shell, `\`, "/"))
	return shell == "" || slices.Contains(shells, strings.TrimSuffix(strings.ToLower(name), ".exe"))
}

// opaque run other commands in ways that are not looked through.
var opaque = []string{
	"su", "runuser", "pkexec", "parallel", "script", "ltrace", "unshare", "nsenter", "setarch", "linux32", "linux64", "systemd-run",
	"start-stop-daemon", "dbus-run-session", "xvfb-run", "entr", "expect", "at", "batch", "fd", "fdfind", "firejail", "bwrap", "proot", "catchsegv",
}

// look finds out what a command runs.
func look(c call) step {
	if !c.words[0].known {
		return step{}
	}
	name := strings.TrimSuffix(path.Base(c.words[0].text), ".exe")
	st := lookAs(name, c)
	if dir := path.Dir(c.words[0].text); dir != "." && dir != "/bin" && dir != "/usr/bin" || strings.HasPrefix(c.words[0].text, "./") {
		st.through = false // somebody's own program of that name
	}
	return st
}

func lookAs(name string, c call) step {
	switch {
	case name == "zsh" || name == "fish":
		return lookForeign(name, c)
	case slices.Contains(shells, name):
		return lookShell(c)
	case name == "eval":
		return lookEval(c)
	case name == "trap":
		return lookTrap(c)
	case name == "find":
		return lookFind(c)
	case name == "xargs":
		return lookXargs(c)
	case name == "watch":
		return lookWatch(c)
	case slices.Contains(namers, name):
		return lookNamer(name, c)
	case changers[name] != "":
		return lookChanger(name, c)
	case name == "alias":
		return lookAlias(c)
	case name == "." || name == "source":
		return lookSource(c)
	case name == "--": // time -- COMMAND
		return wrapper{}.with(c, 1, "")
	case slices.Contains(opaque, name) && runsOther(name, c):
		return step{blind: fmt.Sprintf("what %s runs is not judged", name)}
	}
	w, ok := wrappers[name]
	if !ok {
		return step{}
	}
	if name == "command" && len(c.words) > 1 && (c.words[1].text == "-v" || c.words[1].text == "-V") {
		return step{} // it only tells what the name means
	}
	return w.look(name, c)
}

// runsOther tells whether an opaque program is told to run something: one that
// searches does so only by an option.
func runsOther(name string, c call) bool {
	if name != "fd" && name != "fdfind" {
		return true
	}
	return c.open || slices.ContainsFunc(c.words[1:], func(w word) bool {
		return !w.known || strings.HasPrefix(w.text, "--exec") || strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "xX")
	})
}

// look unwraps a command by the wrapper's description.
func (w wrapper) look(name string, c call) step {
	i, _, blind := w.options(name, c, 1)
	if blind != "" {
		return step{blind: blind}
	}
	for end := min(i+w.skip, len(c.words)); i < end; i++ {
		if !c.words[i].known {
			return step{blind: fmt.Sprintf("a word of %s is known only when it runs", name)}
		}
	}
	for w.env && i < len(c.words) && c.words[i].known && strings.Contains(c.words[i].text, "=") {
		if variable, _, _ := strings.Cut(c.words[i].text, "="); !harmless(variable) {
			return w.with(c, i+1, fmt.Sprintf("it sets %s, and programs may obey that", variable))
		}
		i++
	}
	return w.with(c, i, "")
}

// with is the step to the command at the i-th word.
func (w wrapper) with(c call, i int, blind string) step {
	inner, ok := c.rest(i)
	if !ok {
		if c.open {
			blind = "what it runs comes from its input"
		}
		return step{blind: blind}
	}
	return step{calls: []call{inner}, through: !w.rights && blind == "", blind: blind}
}

// options passes the options from the i-th word and returns the place after
// them, and the values of those with letters.
func (w wrapper) options(name string, c call, i int) (next int, values map[byte]string, blind string) {
	values = map[byte]string{}
	unknown := fmt.Sprintf("an option of %s is known only when it runs", name)
	for ; i < len(c.words); i++ {
		word := c.words[i]
		switch {
		case !word.known:
			return i, values, unknown
		case word.text == "--":
			return i + 1, values, ""
		case !strings.HasPrefix(word.text, "-"):
			return i, values, ""
		case name == "env" && word.text == "-":
			continue
		case name == "nice" && strings.Trim(word.text[1:], "-0123456789") == "":
			continue
		case strings.HasPrefix(word.text, "--"):
			long, _, value := strings.Cut(word.text[2:], "=")
			switch {
			case slices.Contains(strings.Fields(w.long), long):
			case slices.Contains(strings.Fields(w.longs), long):
				if !value {
					i++
				}
			default:
				return i, values, fmt.Sprintf("the option --%s of %s is not judged", long, name)
			}
		default:
			letters := word.text[1:]
			for k := 0; k < len(letters); k++ {
				if strings.IndexByte(w.flags, letters[k]) >= 0 {
					values[letters[k]] = ""
					continue
				}
				if strings.IndexByte(w.args, letters[k]) < 0 {
					return i, values, fmt.Sprintf("the option -%c of %s is not judged", letters[k], name)
				}
				value := letters[k+1:]
				if value == "" {
					if i++; i < len(c.words) {
						if !c.words[i].known {
							return i, values, unknown
						}
						value = c.words[i].text
					}
				}
				values[letters[k]] = value
				break
			}
			if letters == "" {
				return i, values, "" // a lone "-" is no option
			}
		}
	}
	return i, values, ""
}

// lookShell judges the script of sh -c. A shell with a file runs as any
// program does; one without reads commands from its input.
func lookShell(c call) step {
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case !w.known:
			return step{blind: "the script is known only when it runs"}
		case w.text == "--rcfile" || w.text == "--init-file":
			return step{blind: fmt.Sprintf("what a shell runs with %s is not judged", w.text)}
		case strings.HasPrefix(w.text, "--"):
			continue
		case len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+'):
			if strings.ContainsAny(w.text, "si") {
				return step{blind: "what an interactive shell runs is not judged"}
			}
			if w.text[0] == '-' && strings.Contains(w.text, "c") {
				return scriptAt(c, i+1)
			}
			if strings.ContainsAny(w.text, "oO") {
				i++
			}
		default:
			return step{} // a script in a file
		}
	}
	if c.open {
		return step{blind: "the script is known only when it runs"}
	}
	return step{blind: "the shell reads its commands from its input"}
}

// scriptAt is the step into the script in the i-th word. Options may stand
// between -c and it.
func scriptAt(c call, i int) step {
	for ; i < len(c.words) && c.words[i].known && len(c.words[i].text) > 1 && (c.words[i].text[0] == '-' || c.words[i].text[0] == '+'); i++ {
		if strings.ContainsAny(c.words[i].text, "oO") {
			i++
		}
	}
	if i >= len(c.words) || !c.words[i].known {
		return step{blind: "the script is known only when it runs"}
	}
	return step{scripts: []string{c.words[i].text}, through: true}
}

// joined is the script that the words from the i-th make, if all are known.
func joined(c call, i int) step {
	var texts []string
	for _, w := range c.words[min(i, len(c.words)):] {
		if !w.known {
			return step{blind: "the script is known only when it runs"}
		}
		texts = append(texts, w.text)
	}
	if c.open {
		return step{blind: "the script is known only when it runs"}
	}
	if len(texts) == 0 {
		return step{}
	}
	return step{scripts: []string{strings.Join(texts, " ")}, through: true}
}

func lookEval(c call) step {
	if len(c.words) > 1 && c.words[1].text == "--" {
		return joined(c, 2)
	}
	return joined(c, 1)
}

// lookTrap judges what a trap will run.
func lookTrap(c call) step {
	i := 1
	if len(c.words) > 1 && c.words[1].text == "--" {
		i = 2
	}
	if len(c.words) < i+2 && !c.open || len(c.words) > i && (c.words[i].text == "-p" || c.words[i].text == "-l" || c.words[i].text == "-") {
		return step{} // it lists or resets
	}
	return joined(call{words: c.words[:min(i+1, len(c.words))], open: len(c.words) <= i}, i)
}

var watchOptions = wrapper{flags: "bcdegptwx", args: "nq", long: "beep color differences errexit chgexit no-title precise exec", longs: "interval"}

// lookWatch: it hands its words to a shell as one text, unless told not to.
func lookWatch(c call) step {
	i, values, blind := watchOptions.options("watch", c, 1)
	if blind != "" {
		return step{blind: blind}
	}
	if _, exec := values['x']; exec {
		return watchOptions.with(c, i, "")
	}
	return joined(c, i)
}

var xargsOptions = wrapper{flags: "0rtpxo", args: "nLPsdEaI", long: "null no-run-if-empty verbose interactive exit open-tty",
	longs: "max-args max-lines max-procs max-chars delimiter arg-file"}

// lookXargs: the words of its input follow those of the command, or stand
// wherever the mark of -I does.
func lookXargs(c call) step {
	i, values, blind := xargsOptions.options("xargs", c, 1)
	if blind != "" {
		return step{blind: blind}
	}
	inner, ok := c.rest(i)
	if !ok {
		return step{} // it prints
	}
	mark := values['I']
	inner.words = replaced(inner.words, mark)
	inner.open = inner.open || mark == ""
	return step{calls: []call{inner}, through: true}
}

// replaced makes the words that hold the mark unknown.
func replaced(words []word, mark string) []word {
	out := slices.Clone(words)
	for i, w := range out {
		if mark != "" && strings.Contains(w.text, mark) {
			out[i] = word{}
		}
	}
	return out
}

// lookFind judges the commands of -exec and its kin; find itself needs a rule.
func lookFind(c call) step {
	var st step
	for i := 1; i < len(c.words); i++ {
		if !c.words[i].known {
			st.blind = "an argument of find is known only when it runs, and find can run commands"
		}
		switch c.words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		end := i + 1
		for end < len(c.words) && c.words[end].text != ";" && !(c.words[end].text == "+" && c.words[end-1].text == "{}") {
			end++
		}
		if end > i+1 {
			st.calls = append(st.calls, call{words: replaced(c.words[i+1:end], "{}"), open: c.open && end == len(c.words)})
		}
		i = end
	}
	return st
}

// lookForeign: other shells read their scripts in another way.
func lookForeign(name string, c call) step {
	for _, w := range c.words[1:] {
		if w.known && !strings.HasPrefix(w.text, "-") {
			return step{} // a script in a file
		}
		if !w.known || strings.Contains(w.text, "c") {
			break
		}
	}
	return step{blind: fmt.Sprintf("scripts of %s cannot be judged", name)}
}
