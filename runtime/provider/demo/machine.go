package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A conversation is what the machine sees of a request.
type conversation struct {
	tools  []string
	prompt bool   // the script's prompt was given, and nothing asked since
	steps  []done // the calls since then, with their results
}

// done is a call that was made and answered.
type done struct {
	name, result string
}

// A reply is what the machine answers: words, and a call or none.
type reply struct {
	thought string
	text    string
	tool    string
	args    any
}

const label = "[scripted demo, no AI] "

// next decides what to answer from what the tools returned.
func next(c conversation) reply {
	if !c.prompt {
		return reply{text: notTheScript}
	}
	for _, t := range []string{"bash", "read", "edit"} {
		if !slices.Contains(c.tools, t) {
			return stop("The script needs the tool %q, and this session does not offer it.", t)
		}
	}
	m := machine{c: c}
	return m.step(len(c.steps))
}

const notTheScript = label + "I am a scripted demo of zot and understand nothing but my own prompt, which zot demo gives me. " +
	"To work with a real model, run zot login, set a key such as OPENAI_API_KEY, or start a local server and choose it with --provider ollama --model NAME."

// stop ends the script where a result is not what it can go on from.
func stop(format string, args ...any) reply {
	return reply{text: label + fmt.Sprintf(format, args...) + " I am only a script and cannot work out what to do instead, so I stop here."}
}

func say(tool string, args any, thought, format string, a ...any) reply {
	return reply{thought: "(scripted) " + thought, text: label + fmt.Sprintf(format, a...), tool: tool, args: args}
}

type machine struct{ c conversation }

func (m machine) result(i int) string { return m.c.steps[i].result }

// step answers when n calls have been made. The calls for the changelog and the
// trash are missing among them where no such tool was offered.
func (m machine) step(n int) reply {
	if n >= 1 {
		if _, why := m.failure(); why != "" {
			return stop("%s.", why)
		}
	}
	noted, trashed := m.noted(), m.trashed()
	if noted {
		n--
	}
	if trashed {
		n--
	}
	switch n {
	case 0:
		return say("bash", object{"command": TestCommand}, "First see what fails.", "Step 1: I run the tests.")
	case 1:
		return m.read()
	case 2:
		return m.edit()
	case 3:
		if !noted && slices.Contains(m.c.tools, ChangelogTool) {
			return m.changelog()
		}
		return m.danger()
	case 4:
		if !trashed && slices.Contains(m.c.tools, TrashTool) {
			return m.trash()
		}
		return m.publish()
	case 5:
		return m.again()
	case 6:
		return m.summary()
	}
	return stop("The script is over, and there are more calls than it made.")
}

// noted and trashed report whether the calls that need an extension were made.
func (m machine) noted() bool { return m.called(3, ChangelogTool) }

func (m machine) trashed() bool { return m.called(m.dangerAt()+1, TrashTool) }

func (m machine) called(i int, tool string) bool {
	return len(m.c.steps) > i && m.c.steps[i].name == tool
}

// dangerAt is the place of the dangerous command among the calls.
func (m machine) dangerAt() int {
	if m.noted() {
		return 4
	}
	return 3
}

// A failure is what a failing test said.
type failure struct{ at, file, says string }

var testLine = regexp.MustCompile(`(?m)^\s+((\w+)_test\.go:\d+): (.+)$`)

// failure reads the first failing test out of the first result; why says that
// there is none to go on from.
func (m machine) failure() (f failure, why string) {
	out := m.result(0)
	found := testLine.FindStringSubmatch(out)
	switch {
	case found != nil && strings.Contains(out, "FAIL"):
		return failure{at: found[1], file: found[2] + ".go", says: found[3]}, ""
	case refused(out):
		return failure{}, "The tests were not run: " + firstLine(out)
	}
	return failure{}, fmt.Sprintf("I expected a failing test with its file and line in the output of %q, and it begins: %s", TestCommand, firstLine(out))
}

func (m machine) read() reply {
	f, _ := m.failure()
	return say("read", object{"path": f.file}, "The test names a function; its file goes by the same name.",
		"Step 2: %s says: %s. I read the code that it tests, %s.", f.at, f.says, f.file)
}

func (m machine) edit() reply {
	f, _ := m.failure()
	code := m.result(1)
	if strings.Count(code, fault) != 1 {
		return stop("I expected %q once in %s, as I was sent it, and it is there %d times.", fault, f.file, strings.Count(code, fault))
	}
	edits := []object{{"oldText": fault, "newText": correction}}
	return say("edit", object{"path": f.file, "edits": edits}, "A mean divides by the number of values.",
		"Step 3: %s divides by one less than the number of values. I correct that.", f.file)
}

// unedited says why the edit did not go through, or nothing if it did.
func (m machine) unedited() string {
	if out := m.result(2); refused(out) {
		return "The edit was not made: " + firstLine(out)
	}
	return ""
}

func (m machine) changelog() reply {
	if why := m.unedited(); why != "" {
		return stop("%s.", why)
	}
	return say(ChangelogTool, object{"entry": "Mean divides by the number of values"}, "An extension keeps the changelog.",
		"Step 4: the file is changed. I note it with %s, a tool that an extension provides.", ChangelogTool)
}

func (m machine) danger() reply {
	if why := m.unedited(); why != "" {
		return stop("%s.", why)
	}
	before := fmt.Sprintf("There is no tool %q in this session (no extension provides it), so I leave step 4 out. ", ChangelogTool)
	if m.noted() {
		before = "It is noted. "
		if out := m.result(3); refused(out) {
			before = fmt.Sprintf("The changelog could not be written (%s); I go on without it. ", firstLine(out))
		}
	}
	return say("bash", object{"command": DangerousCommand}, "Time to be refused.",
		"%sStep 5: now I try a command that a careful setup refuses: %s", before, DangerousCommand)
}

// unguarded says that the dangerous command ran, or nothing if it did not.
func (m machine) unguarded() string {
	if refused(m.result(m.dangerAt())) {
		return ""
	}
	return fmt.Sprintf("The command %q was not refused: nothing guards this session. (It did no harm, such a folder is the demo's own.)", DangerousCommand)
}

func (m machine) trash() reply {
	if why := m.unguarded(); why != "" {
		return stop("%s", why)
	}
	return say(TrashTool, object{"path": Leftovers}, "Refused, as hoped. There is a safe way.",
		"I was refused: %s. Step 6: I use %s instead, which a second extension provides.", firstLine(m.result(m.dangerAt())), TrashTool)
}

func (m machine) publish() reply {
	if why := m.unguarded(); why != "" {
		return stop("%s", why)
	}
	before := fmt.Sprintf("I was refused: %s. I leave it at that.", firstLine(m.result(m.dangerAt())))
	if m.trashed() {
		before = "The answer is: " + firstLine(m.result(m.dangerAt()+1)) + "."
	}
	return say("bash", object{"command": PublishCommand}, "A policy may say no as well.", "%s Step 7: I try to publish: %s", before, PublishCommand)
}

// denied reports whether a policy forbade to publish. Without a policy about it
// the command runs, and fails.
func (m machine) denied(step int) bool { return refused(m.result(step)) }

func (m machine) again() reply {
	at := len(m.c.steps) - 1
	before := "No policy of this session is about publishing, and there was nowhere to publish to."
	if m.denied(at) {
		before = fmt.Sprintf("The policy says no: %s.", firstLine(m.result(at)))
	}
	return say("bash", object{"command": TestCommand}, "Back to the tests.", "%s Step 8: I run the tests again.", before)
}

var passed = regexp.MustCompile(`(?m)^ok\s+\S`)

func (m machine) summary() reply {
	out := m.result(len(m.c.steps) - 1)
	if refused(out) || strings.Contains(out, "FAIL") || !passed.MatchString(out) {
		return stop("The tests do not pass, or at least their output does not say so: %s.", firstLine(out))
	}
	f, _ := m.failure()
	noted := "no extension offered a changelog"
	if m.noted() && !refused(m.result(3)) {
		noted = "an extension noted it in the changelog"
	}
	no := "a dangerous command was refused"
	if m.denied(len(m.c.steps) - 2) {
		no += ", and publishing by the policy"
	}
	return reply{text: fmt.Sprintf("%sThe tests pass. %s failed because Mean divided by one too few; %s is corrected, %s, and %s. "+
		"All was real but me, a script. For a model that thinks: zot login.", label, f.at, f.file, noted, no)}
}

var (
	refusalWord = regexp.MustCompile(`(?i)\b(refus|den(y|ied)|block|declin|reject|forbid|forbidden|not allowed|not permitted|cancel|interrupted)`)
	exitCode    = regexp.MustCompile(`exit code \d+`)
)

// refused reports whether a result says that its call did not run, or that it
// failed: by an error mark where the command itself gave no exit code.
func refused(result string) bool {
	text := strings.TrimSpace(result)
	if exitCode.MatchString(text) {
		return false
	}
	return strings.HasPrefix(strings.ToLower(text), "error") || refusalWord.MatchString(text)
}

// firstLine is the first line of a result that says something, without the
// mark for errors.
func firstLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "Error:"))
		if line != "" {
			return strings.TrimRight(line, ".")
		}
	}
	return "nothing"
}

type object = map[string]any

// encodeArgs writes a call's arguments.
func encodeArgs(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings
	}
	return string(b)
}
