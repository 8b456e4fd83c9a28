package builtin

import "regexp"

// hints tell what to do about programs that wanted a terminal or an answer.
var hints = []struct {
	seen *regexp.Regexp
	say  string
}{
	{regexp.MustCompile(noEditor + `|(?i)problem with the editor|terminal is dumb, but EDITOR unset|error: cannot run editor`),
		"it wanted an editor, and there is none: give the text on the command line, such as git commit -m, --no-edit, or GIT_SEQUENCE_EDITOR for rebase -i"},
	{regexp.MustCompile(`sudo: .*(terminal|password|askpass)|su: must be run from a terminal|doas: .*(tty|password)|polkit|pkexec.*terminal`),
		"it wanted a password, and nobody can be asked: use sudo -n if that is set up, or ask the user to run it"},
	{regexp.MustCompile(`Host key verification failed|authenticity of host|Permission denied \(.*(publickey|password)`),
		"ssh could not ask: the user has to accept the host key or set up a key; see ssh -o BatchMode=yes and -o StrictHostKeyChecking=accept-new"},
	{regexp.MustCompile(`could not read (Username|Password)|terminal prompts disabled`),
		"git wanted credentials, and nobody can be asked: the user has to set up a credential helper or a key"},
	{regexp.MustCompile(`(?i)not a tty|not a terminal|inappropriate ioctl|no tty present|/dev/tty: no such device|stdin is not|EOFError|EOF when reading|requires? (an interactive|a terminal)|cannot prompt|\[y/n\]\s*$`),
		"it wanted a terminal or an answer, and there is none: look for a flag such as --yes, --no-input, --non-interactive or --batch"},
}

// interactiveHint looks at what a failed command printed.
func interactiveHint(text string) string {
	for _, h := range hints {
		if h.seen.MatchString(text) {
			return h.say
		}
	}
	return ""
}
