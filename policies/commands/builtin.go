package commands

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// namers take names of variables among their words.
var namers = []string{"printf", "read", "mapfile", "readarray", "getopts", "unset", "test", "["}

// lookNamer: setting a variable by its name is as good as an assignment, and
// the index in a name is evaluated.
func lookNamer(name string, c call) step {
	sets := name != "test" && name != "[" && (name != "printf" || len(c.words) > 1 && (!c.words[1].known || strings.HasPrefix(c.words[1].text, "-v")))
	for i, w := range c.words[1:] {
		if strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`") {
			return step{blind: "it evaluates an index"}
		}
		if name == "mapfile" || name == "readarray" {
			if strings.HasPrefix(w.text, "-C") {
				return step{blind: fmt.Sprintf("what %s -C runs is not judged", name)}
			}
		}
		if name == "printf" && i > 1 || !sets {
			continue
		}
		text := strings.TrimPrefix(w.text, "-v")
		if !w.known || syntax.ValidName(text) && !harmless(text) {
			return step{blind: "it sets a variable that programs may obey"}
		}
	}
	return step{}
}

// changers are builtins that change what later commands mean, or run some in a
// way that is not judged.
var changers = map[string]string{
	"enable": "it can change what commands mean", "hash": "it can change what commands mean",
	"bind": "what its keys run is not judged", "complete": "what it runs is not judged", "compgen": "what it runs is not judged",
	"jobs": "what it runs is not judged", "fc": "what it runs is not judged", "history": "what it adds is not judged",
}

// lookChanger: without options these only show something.
func lookChanger(name string, c call) step {
	options := func(w word) bool {
		return !w.known || strings.HasPrefix(w.text, "-") && w.text != "-r" && w.text != "-l"
	}
	if c.open || slices.ContainsFunc(c.words[1:], options) {
		return step{blind: changers[name]}
	}
	return step{}
}

// lookAlias judges what names are made to mean; some shells obey that in
// scripts, too.
func lookAlias(c call) step {
	var st step
	for _, w := range c.words[1:] {
		_, text, defines := strings.Cut(w.text, "=")
		switch {
		case !w.known:
			st.blind = "what the name will mean is known only when it runs"
		case defines && strings.TrimSpace(text) != "":
			st.scripts = append(st.scripts, text)
		}
	}
	return st
}

// lookSource: a script in a file runs as any program does; one that is made on
// the spot is not known.
func lookSource(c call) step {
	if len(c.words) > 1 && c.words[1].known && c.words[1].text != "/dev/stdin" {
		return step{}
	}
	return step{blind: "the script is known only when it runs"}
}
