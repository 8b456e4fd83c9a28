package builtin

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A shell is the program that runs commands, with what goes before the command.
type shell struct {
	path string
	args []string
}

// ShellPath is the program that the bash tool gives commands to, where the one
// asked for (or "") is set.
func ShellPath(asked string) string { return findShell(asked).path }

// findShell looks for the shell: the one asked for, or the best there is.
func findShell(asked string) shell {
	names := []string{"bash", "sh"}
	if runtime.GOOS == "windows" {
		names = append(names, "pwsh", "powershell")
	}
	if asked != "" {
		names = []string{asked}
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil && !isWSL(path) {
			return newShell(path)
		}
	}
	return newShell(names[len(names)-1]) // starting it says what is missing
}

// isWSL recognises the bash of Windows that opens another system.
func isWSL(path string) bool {
	return runtime.GOOS == "windows" && strings.Contains(strings.ToLower(path), `\system32\`) && strings.Contains(strings.ToLower(filepath.Base(path)), "bash")
}

func newShell(path string) shell {
	switch base := strings.ToLower(strings.TrimSuffix(filepath.Base(path), ".exe")); base {
	case "pwsh", "powershell":
		return shell{path, []string{"-NoProfile", "-NonInteractive", "-Command"}}
	case "cmd":
		return shell{path, []string{"/d", "/s", "/c"}}
	}
	return shell{path, []string{"-c"}}
}

func (s shell) name() string { return strings.TrimSuffix(filepath.Base(s.path), ".exe") }

// command prepares a command line; the input is empty.
func (s shell) command(line, cwd string, env []string) *exec.Cmd {
	cmd := exec.Command(s.path, append(append([]string{}, s.args...), line)...)
	cmd.Dir = cwd
	cmd.Env = append(append(append([]string{}, env...), quietEnv...), "PWD="+cwd)
	return cmd
}

// quietEnv keeps programs from asking, drawing and paging: there is nobody at
// the other end. What would open an editor fails at once and says so.
var quietEnv = []string{
	"TERM=dumb",
	"NO_COLOR=1",
	"PAGER=cat",
	"GIT_PAGER=cat",
	"MANPAGER=cat",
	"SYSTEMD_PAGER=cat",
	"EDITOR=false",
	"VISUAL=false",
	`GIT_EDITOR=echo "` + noEditor + `: use -m, -F, --no-edit, or GIT_EDITOR=true to take the text as it is" >&2; false`,
	`GIT_SEQUENCE_EDITOR=echo "` + noEditor + `: set GIT_SEQUENCE_EDITOR to a command that edits the list, such as sed -i" >&2; false`,
	"GIT_TERMINAL_PROMPT=0",
	"GCM_INTERACTIVE=never",
	"SSH_ASKPASS_REQUIRE=never",
	"DEBIAN_FRONTEND=noninteractive",
	"PIP_NO_INPUT=1",
}

const noEditor = "there is no editor here"
