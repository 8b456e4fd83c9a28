package commands

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pieces are what lines are made of that shells and parsers may read
// differently. None names a file outside of the folder.
var pieces = []string{
	"echo", "rm", "x", "#", "\\\n", "\n", ";", "&", "&&", "|", "(", ")", "{", "}", "'", "\"", "$", "`", "<<E", "\nE\n", "!", "[[ ", " ]]", "((", "))",
	"case x in", " esac", "if ", "then ", "fi", "for x in ", "do ", "done", " ", "\t", "\\", "a", "=", "x=", "<<<", ">f", "$(", "${x:-", "*", "[", "]",
	"f()", "time ", "-p ", "--", "coproc ", "function f ", "eval ", "<(", "\"$(", "'rm x'", "\"rm x\"", "$'", "${", "#}", "|&", "&>f", ";;", "'E'", "<<-E",
	"{a,b}", "r\\\nm", "set -- rm x;", "\"$@\"", "${#", "$((", "1", "until ", "while ", "else ", "command ", "exec ", "test ", "trap ", "$x",
	"alias x=rm;", "let ", "jobs -x ", "hash -p ",
}

// What is allowed does not run what is denied: lines are given to real shells,
// for which the denied program is the only one there is.
func TestShellsRunNothingUnseen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the denied program is a shell script")
	}
	dir := t.TempDir()
	marker := filepath.Join(dir, "marker")
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "rm"), []byte("#!/bin/sh\necho ran >> '"+marker+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var shells []string
	for _, name := range []string{"bash", "dash"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	if len(shells) == 0 {
		t.Skip("there is neither bash nor dash")
	}
	lines := []string{"echo a #\\\nrm x", "# b\\\nrm x", "time -- rm x", "alias q=rm\nq x", "jobs -x rm x", "hash -p rm ls; ls", "let 'a[$(rm x)0]=1'"}
	dice := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		var b strings.Builder
		for range 2 + dice.IntN(9) {
			b.WriteString(pieces[dice.IntN(len(pieces))])
			if dice.IntN(3) == 0 {
				b.WriteByte(' ')
			}
		}
		if line := b.String(); strings.Contains(line, "m") {
			lines = append(lines, line)
		}
	}
	rules := compile(t, allow, Rule{Verdict: deny, Pattern: "rm *"})
	for _, line := range lines {
		if rules.Judge(line).Verdict != allow {
			continue
		}
		for _, shell := range shells {
			runAlone(t, shell, line, dir)
			if _, err := os.Stat(marker); err == nil {
				t.Errorf("%q is allowed, and %s runs rm for it", line, shell)
				_ = os.Remove(marker)
			}
		}
	}
}

// runAlone runs a line in dir, with nothing but the programs of dir/bin. How it
// ends does not matter.
func runAlone(t *testing.T, shell, line, dir string) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=" + filepath.Join(dir, "bin")}, time.Second
	_ = cmd.Run()
}
