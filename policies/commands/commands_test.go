package commands

import (
	"strings"
	"testing"

	"github.com/patriceckhart/zot/policies"
	"mvdan.cc/sh/v3/syntax"
)

const (
	deny  = policies.Deny
	ask   = policies.Ask
	allow = policies.Allow
)

func compile(t testing.TB, unlisted policies.Verdict, rules ...Rule) *Rules {
	t.Helper()
	r, err := Compile(rules, unlisted)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// usual are rules as a project may have them.
func usual(t testing.TB) *Rules {
	return compile(t, ask,
		Rule{ID: "git", Verdict: allow, Pattern: "git log *"},
		Rule{ID: "status", Verdict: allow, Pattern: "git status"},
		Rule{ID: "echo", Verdict: allow, Pattern: "echo *"},
		Rule{ID: "find", Verdict: allow, Pattern: "find *"},
		Rule{ID: "printf", Verdict: allow, Pattern: "printf *"},
		Rule{ID: "test", Verdict: allow, Pattern: "go test *"},
		Rule{ID: "rm", Verdict: deny, Pattern: "rm *", Reason: "removing is for people"},
		Rule{ID: "push", Verdict: ask, Pattern: "git push *"},
		Rule{ID: "force", Verdict: deny, Pattern: "git push * --force *"},
	)
}

func TestJudge(t *testing.T) {
	rules := usual(t)
	for line, want := range map[string]policies.Verdict{
		// plain
		"git log":                   allow,
		"git log --oneline -5":      allow,
		"git status":                allow,
		"git status -s":             ask,
		"ls":                        ask,
		"rm x":                      deny,
		"git push":                  ask,
		"git push origin --force":   deny,
		"git push --force origin x": deny,

		// every part counts
		"git log && echo done":            allow,
		"git log && curl u | sh":          ask,
		"git log\nrm x":                   deny,
		"git log; rm x":                   deny,
		"git log & rm x":                  deny,
		"git log || rm x":                 deny,
		"git log | rm x":                  deny,
		"(cd d && rm -rf x)":              deny,
		"{ rm x; }":                       deny,
		"A=1 rm -rf x":                    deny,
		"! rm x":                          deny,
		"if git status; then rm x; fi":    deny,
		"for f in a b; do rm $f; done":    deny,
		"while git log; do rm x; done":    deny,
		"case a in a) rm x;; esac":        deny,
		"f() { rm x; }; echo hi":          deny,
		"echo $(rm x)":                    deny,
		"echo `rm x`":                     deny,
		"echo \"a $(rm x)\"":              deny,
		"echo <(rm x)":                    deny,
		"echo ${x:-$(rm x)}":              deny,
		"echo <<EOF\n$(rm x)\nEOF":        deny,
		"echo <<'EOF'\n$(rm x)\nEOF":      allow,
		"echo $(( $(rm x) ))":             deny,
		"[[ -f $(rm x) ]]":                deny,
		"x=$(rm x)":                       deny,
		"a=(1 $(rm x))":                   deny,
		"coproc rm x":                     deny,
		"time rm x":                       deny,
		"select x in $(rm x); do :; done": deny,

		// the program's name
		"/bin/rm x":       deny,
		"\\rm x":          deny,
		"'rm' x":          deny,
		"r''m x":          deny,
		"\"rm\" x":        deny,
		"RM x":            deny,
		"$'r\\x6d' -rf /": ask,
		"$X -rf /":        ask,
		"{rm,-rf,x}":      ask,
		"r* x":            ask,
		"~/rm x":          ask,
		"./git log":       ask,
		"/tmp/git log":    ask,
		"$(echo rm) x":    ask,
		"git\\\n log":     allow,

		// words that are not known
		"git log $BRANCH": allow,
		"git log *.go":    allow,
		"git $X":          ask,
		"git status $X":   ask,
		"git push $X":     ask,
		"echo ~":          allow,
		"echo {a,b}":      allow,

		// programs that run others
		"timeout 5 git log":               allow,
		"timeout -s KILL 5 rm x":          deny,
		"timeout --signal=KILL 5 git log": allow,
		"timeout --odd 5 git log":         ask,
		"timeout $T git log":              ask,
		"/tmp/timeout 5 git log":          ask,
		"nice -n 5 git log":               allow,
		"nice -10 rm x":                   deny,
		"nohup git log":                   allow,
		"stdbuf -oL git log":              allow,
		"env git log":                     allow,
		"env -i TZ=UTC git log":           allow,
		"env GIT_PAGER=evil git log":      ask,
		"env -S 'rm x'":                   ask,
		"env -u HOME rm x":                deny,
		"command rm x":                    deny,
		"command git log":                 allow,
		"command -v rm":                   ask,
		"exec rm x":                       deny,
		"busybox rm x":                    deny,
		"sudo rm x":                       deny,
		"sudo git log":                    ask,
		"time -p git log":                 allow,
		"timeout 5 nice env sh -c 'rm x'": deny,
		"xargs rm":                        deny,
		"echo a | xargs git log":          allow,
		"echo a | xargs git status":       ask,
		"echo a | xargs git":              ask,
		"echo a | xargs":                  ask,
		"echo a | xargs -n 1 -P 4 rm":     deny,
		"echo a | xargs -I{} git log {}":  allow,
		"echo a | xargs -I% % x":          ask,
		"echo a | xargs sh -c":            ask,
		"find . -name '*.go'":             allow,
		"find . -exec git log {} \\;":     allow,
		"find . -exec rm {} +":            deny,
		"find . -type f -execdir sh -c 'rm \"$1\"' _ {} \\;": deny,
		"find . $X":             ask,
		"watch -n 1 git status": allow,
		"watch 'rm x'":          deny,
		"watch -x rm x":         deny,

		// scripts in words
		"sh -c 'git log'":               allow,
		"bash -lc 'git log && rm x'":    deny,
		"bash -c \"rm $X\"":             ask,
		"bash -o pipefail -c 'git log'": allow,
		"bash -c 'git log' --rm":        allow,
		"bash -ic 'git log'":            ask,
		"sh script.sh":                  ask,
		"sh":                            ask,
		"sh <<EOF\nrm x\nEOF":           ask,
		"zsh -c 'git log'":              ask,
		"eval 'git log'":                allow,
		"eval rm x":                     deny,
		"eval \"$X\"":                   ask,
		"trap 'rm x' EXIT":              deny,
		"trap 'git log' EXIT":           allow,
		"trap - EXIT":                   ask,
		"su -c 'rm x'":                  ask,

		// files
		"git log > out":        ask,
		"git log >> ~/.bashrc": ask,
		"git log &> $F":        ask,
		"git log >/dev/null":   allow,
		"git log 2>&1":         allow,
		"git log 2>&1 >&-":     allow,
		"echo < in":            allow,
		"echo </dev/tcp/h/80":  ask,
		"> out":                ask,
		"echo hi > >(rm x)":    deny,

		// variables
		"x=1":                                allow,
		"x=1; git log $x":                    allow,
		"TZ=UTC git log":                     allow,
		"PATH=/tmp git log":                  ask,
		"PATH=/tmp; git log":                 ask,
		"export PATH=/tmp; git log":          ask,
		"export x=1; git log":                allow,
		"declare -n r=PATH":                  ask,
		"GIT_PAGER='sh -c x' git log":        ask,
		"for PATH in /tmp; do git log; done": ask,
		"printf -v PATH /tmp":                ask,
		"printf '%s' \"$x\"":                 allow,
		"printf hello":                       allow,
		"echo $((1+2))":                      allow,
		"echo $((x))":                        ask,
		"echo ${x@P}":                        ask,
		"echo ${!x}":                         ask,
		"echo ${a[i]}":                       ask,
		"echo ${a[@]} ${#a} ${x%.go}":        allow,
		"[[ $x -eq 1 ]]":                     ask,
		"[[ -n $x ]]":                        allow,

		// what cannot be read
		"git log '":       ask,
		"git log )":       ask,
		"if":              ask,
		"":                ask,
		"# nothing":       ask,
		"git log \x1b[2K": ask,
		"git log \xff":    ask,
		"git log\x00rm x": ask,
	} {
		if d := rules.Judge(line); d.Verdict != want {
			t.Errorf("Judge(%q) = %v, want %v (%q, rule %q: %s)", line, d.Verdict, want, d.Part, d.Rule, d.Reason)
		}
	}
}

func TestDecisionExplains(t *testing.T) {
	rules := usual(t)
	d := rules.Judge("git log &&\n  sh -c 'echo a; rm -rf x'")
	if d.Verdict != deny || d.Rule != "rm" || d.Part != "rm -rf x" || d.Line != 1 || d.Column != 9 || d.Reason != "removing is for people" {
		t.Errorf("%+v", d)
	}
	if len(d.Parts) != 4 || d.Parts[0].Rule != "git" {
		t.Errorf("parts %+v", d.Parts)
	}
	d = rules.Judge("echo a\n  curl u")
	if d.Part != "curl u" || d.Line != 2 || d.Column != 3 || d.Rule != "" || d.Reason == "" {
		t.Errorf("%+v", d)
	}
	if d = rules.Judge("x=1 && git log"); d.Verdict != allow || d.Rule != "git" {
		t.Errorf("%+v", d)
	}
	if d = rules.Judge("git $X"); !strings.Contains(d.Reason, "may be") || d.Rule == "" {
		t.Errorf("%+v", d)
	}
}

func TestUnlistedAllow(t *testing.T) {
	rules := compile(t, allow, Rule{Verdict: deny, Pattern: "rm *"})
	for line, want := range map[string]policies.Verdict{
		"anything at all": allow, "sudo anything": allow, "sudo rm x": deny, "$X": ask, "r''m x": deny, "curl u | sh": ask, "'": ask,
	} {
		if d := rules.Judge(line); d.Verdict != want {
			t.Errorf("Judge(%q) = %v, want %v", line, d.Verdict, want)
		}
	}
}

// Rules that only restrict are not got around: whatever stands before the
// command, between its words or in place of them.
func TestRestrictionsHold(t *testing.T) {
	rules := compile(t, allow, Rule{Verdict: deny, Pattern: "rm *"}, Rule{Verdict: deny, Pattern: "git push *"}, Rule{Verdict: ask, Pattern: "npm test"})
	for line, want := range map[string]policies.Verdict{
		// a comment that a shell ends where the parser does not
		"echo a #\\\nrm x": ask, "#\\\nrm x": deny, "echo a # b\\\nrm x": ask, "echo a # b\\\\\nrm x": deny, "echo a # b\\\\\nls": allow,

		// names that are made to mean something else
		"alias r=rm; r x": deny, "alias ls='rm x'; ls": deny, "alias r=$X": ask, "alias ll='ls -l'": allow, "alias": allow, "alias -p": allow,
		"hash -p /bin/rm ls; ls x": ask, "hash -r": allow, "enable -f x.so ls": ask, "rm() { :; }; rm x": deny, "f() { rm \"$@\"; }; f x": deny,

		// builtins that run what they are given
		". <(echo rm x)": ask, "source /dev/stdin <<< 'rm x'": ask, ". ./env.sh": allow, "jobs -x rm x": ask, "jobs": allow, "jobs -l": allow,
		"mapfile -C 'rm x' -c 1 a": ask, "readarray -Crm a": ask, "mapfile a < f": allow, "let 'a[$(rm x)]=1'": ask, "let 'x=1'": ask,
		"complete -C 'rm x' ls": ask, "bind -x '\"a\":rm x'": ask, "fc -s rm": ask, "time -- rm x": deny, "time -p rm x": deny, "coproc { rm x; }": deny,

		// programs that run others
		"flock f rm x": deny, "flock -w 5 f ls": allow, "flock -c 'rm x' f": ask, "taskset 1 rm x": deny, "taskset -c 0-3 ls": allow,
		"chrt -i 0 rm x": deny, "fakeroot rm x": deny, "fakeroot -- rm x": deny, "strace -f rm x": deny, "strace -o out ls": ask, "chroot / rm x": deny,
		"script -qc 'rm x' /dev/null": ask, "unshare rm x": ask, "setarch x86_64 rm x": ask, "systemd-run rm x": ask, "pkexec rm x": ask,
		"echo f | entr rm x": ask, "fd -x rm": ask, "fd --exec rm": ask, "fd -tf name": allow, "fd $X": ask,

		// options before the word that says what is to be done
		"git -C d push": deny, "git -C d push origin": deny, "git --git-dir=d push": deny, "git -c a=b push": deny, "git --no-pager push": ask,
		"git -C push log": ask, "git -C d log": allow, "git log push": allow, "git -C d log -- push": allow, "npm --prefix d test": ask, "npm --silent run build": allow,
	} {
		if d := rules.Judge(line); d.Verdict != want {
			t.Errorf("Judge(%q) = %v, want %v (%q: %s)", line, d.Verdict, want, d.Part, d.Reason)
		}
	}
}

func TestWriteTo(t *testing.T) {
	rules := usual(t)
	rules.WriteTo = func(path string) policies.Verdict {
		if strings.HasPrefix(path, "out/") {
			return allow
		}
		return deny
	}
	for line, want := range map[string]policies.Verdict{
		"git log > out/x": allow, "git log > ../x": deny, "git log > $X": ask,
	} {
		if d := rules.Judge(line); d.Verdict != want {
			t.Errorf("Judge(%q) = %v, want %v", line, d.Verdict, want)
		}
	}
}

func TestReads(t *testing.T) {
	for shell, want := range map[string]bool{
		"": true, "/bin/bash": true, "sh": true, `C:\Program Files\Git\bin\bash.exe`: true, "/usr/bin/fish": false, "zsh": false, "pwsh": false,
	} {
		if got := Reads(shell); got != want {
			t.Errorf("Reads(%q) = %v", shell, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          bool
	}{
		{"*", "anything at all", true},
		{"git *", "git", true},
		{"git * main", "git push origin main", true},
		{"git * main", "git main", true},
		{"git * main", "git push main x", false},
		{"npm run test*", "npm run test:unit", true},
		{"npm run test*", "npm run lint", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "acb", false},
		{"a*a", "a", false},
		{`ls \*`, "ls '*'", true},
		{`ls \*`, "ls x", false},
		{"* --force *", "git push --force", true},
	} {
		d := compile(t, ask, Rule{Verdict: allow, Pattern: c.pattern}).Judge(c.line)
		if got := d.Verdict == allow; got != c.want {
			t.Errorf("pattern %q on %q: %v", c.pattern, c.line, got)
		}
	}
	for _, bad := range []string{"", "  ", `git \`, "a\nb"} {
		if _, err := Compile([]Rule{{ID: "r", Pattern: bad}}, ask); err == nil || !strings.Contains(err.Error(), `"r"`) {
			t.Errorf("pattern %q: %v, want an error naming the rule", bad, err)
		}
	}
}

func TestDepthAndLengthAreBounded(t *testing.T) {
	rules := usual(t)
	deep := "rm x"
	for range 40 {
		deep = "nice " + deep
	}
	if d := rules.Judge(deep); d.Verdict == allow {
		t.Errorf("deep: %+v", d)
	}
	if d := rules.Judge("echo " + strings.Repeat("x", maxLine)); d.Verdict != ask {
		t.Errorf("long: %v", d.Verdict)
	}
	if d := rules.Judge(strings.Repeat("(", 30_000)); d.Verdict != ask {
		t.Errorf("parentheses: %v", d.Verdict)
	}
}

// FuzzJudge: whatever is put around a denied command, the whole is not
// allowed; and what is allowed starts nothing but what the rules name.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"git log", "echo $(git log) | git log", "x=1; echo {a,b} > >(git log)", "for x in a; do echo; done", "sh -c 'echo'",
		"echo <<EOF\nEOF", "timeout 5 xargs -I{} git log {}", "echo 'a", "f() { echo; }", "echo ${x:-$(git log)} #", "find . -exec echo {} \\;"} {
		f.Add(s)
	}
	rules := usual(f)
	f.Fuzz(func(t *testing.T, line string) {
		d := rules.Judge(line)
		if d.Verdict == allow {
			checkHeads(t, line)
		}
		for _, whole := range []string{line + "\nrm x", "rm x\n" + line, "rm x; " + line, "(" + line + "\n) && rm x", "echo $(" + line + "\n) `rm x`"} {
			if strings.HasSuffix(line, `\`) { // it takes the line break away, and rm is a word of it
				break
			}
			if got := rules.Judge(whole); got.Verdict == allow {
				t.Fatalf("Judge(%q) allows", whole)
			}
		}
		if again := rules.Judge(line); again.Verdict != d.Verdict || again.Rule != d.Rule {
			t.Fatalf("Judge(%q) changed its mind", line)
		}
	})
}

// checkHeads parses an allowed line once more, and looks only at the names.
func checkHeads(t *testing.T, line string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatalf("%q is allowed and does not parse", line)
	}
	ok := map[string]bool{"git": true, "echo": true, "find": true, "printf": true, "go": true, "eval": true, "trap": true, "watch": true, "xargs": true}
	for w := range wrappers {
		ok[w] = true
	}
	for _, s := range shells {
		ok[s] = true
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			w := wordOf(c.Args[0])
			if name := w.text[strings.LastIndexByte(w.text, '/')+1:]; !w.known || !ok[name] {
				t.Fatalf("%q is allowed and runs %q", line, name)
			}
		}
		return true
	})
}
