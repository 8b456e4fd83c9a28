package doctorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/auth"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/tui"
)

func (v *visit) zot() {
	v.add("version", Info, version.String(), "")
	v.add("system", Info, runtime.GOOS+"/"+runtime.GOARCH+", built with "+runtime.Version(), "")
	v.add("folder", Info, v.w.CWD, "")
	if v.w.ProjectRoot != v.w.CWD {
		v.add("project", Info, v.w.ProjectRoot, "")
	}
}

// system looks for the programs that zot and its extensions start.
func (v *visit) system() {
	shells := []string{"bash", "sh"}
	if runtime.GOOS == "windows" {
		shells = append(shells, "pwsh", "powershell")
	}
	if set := v.w.Settings.Config.Bash.Shell; set != "" {
		shells = []string{set}
	}
	v.program("shell", shells, Wrong, "the bash tool needs it: install it, or name another one in the setting bash.shell")
	v.program("git", []string{"git"}, Hint, "needed to install extensions from git addresses")
	v.program("go", []string{"go"}, Info, "only for extensions that are started with go run")
	if v.w.UserHome == "" {
		v.add("home folder", Hint, "none", "~/ in paths cannot be read; set HOME")
	}
}

// program reports the first of some programs that is there.
func (v *visit) program(name string, names []string, missing State, advice string) {
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			v.add(name, OK, path, "")
			return
		}
	}
	v.add(name, missing, "not found: "+strings.Join(names, ", "), advice)
}

func (v *visit) terminal() {
	if !v.Streams.OutTerminal {
		v.add("output", Info, "no terminal", "")
	}
	for _, f := range tui.TerminalFacts(v.w.Environ, v.out, v.w.Settings.Config.Keymap) {
		state := Info
		if f.Advice != "" {
			state = Hint
		}
		v.add(f.Name, state, f.Value, f.Advice)
	}
}

// home looks at the state folder and who can read it.
func (v *visit) home() {
	dir := v.w.Home.Dir()
	v.add("folder", Info, dir+" (from "+string(v.w.HomeOrigin)+")", "")
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add("state", OK, "not there yet; made when there is something to keep", "")
		return
	case err != nil:
		v.add("state", Wrong, err.Error(), "")
		return
	case !info.IsDir():
		v.add("state", Wrong, "not a folder", "move it away, or choose another home with --home or ZOT_HOME")
		return
	}
	v.writable(dir)
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		v.add("permissions", Hint, fmt.Sprintf("mode %o: others can look into it", info.Mode().Perm()), "chmod 700 "+dir)
	}
	if auth.NewStore(v.w.Home).TooOpen() {
		v.add("auth.json", Wrong, "others can read your keys", "chmod 600 "+v.w.Home.AuthFile()+", and think of replacing the keys")
	}
}

// writable tries to make a file and takes it away again.
func (v *visit) writable(dir string) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		v.add("state", Wrong, "cannot be written: "+plain(err), "make "+dir+" yours, or choose another home with --home or ZOT_HOME")
		return
	}
	f.Close()
	os.Remove(f.Name())
	v.add("state", OK, "can be written", "")
}

func plain(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// sandbox says what this system can hold extensions to.
func (v *visit) sandbox() {
	r := confine.Supported()
	state, advice := OK, ""
	if !r.Complete() {
		state, advice = Info, "what is not enforced here is shown for each extension that it matters to; in the mode locked such an extension is refused"
	}
	v.add("processes", state, orElse(r.String(), "nothing is enforced"), advice)
	switch cause := confine.ShieldMissing(); {
	case !v.w.Settings.Config.Bash.ProtectHome:
		v.add("commands", Info, "can change zot's own state (bash.protectHome is off)", "")
	case cause != "":
		v.add("commands", Info, "can change zot's own state: "+cause, "deny what should not, or switch the jail on")
	default:
		v.add("commands", OK, "of the model find zot's own state read-only", "")
	}
	if compiles() {
		v.add("WebAssembly", OK, "compiled; modules reach only what they were granted", "")
	} else {
		v.add("WebAssembly", Hint, "no compiler for "+runtime.GOOS+"/"+runtime.GOARCH, "extensions that are modules do not run here")
	}
	v.add("administrator", Info, workspace.ManagedDir()+v.managed(), "")
}

// managed says whether the administrator's folder has settings.
func (v *visit) managed() string {
	for _, f := range v.w.Settings.Files {
		if f.Layer.String() == "managed" && f.Found {
			return ": settings are there"
		}
	}
	return ": no settings"
}

// compiles tells whether modules can be compiled on this system.
func compiles() bool {
	switch runtime.GOOS {
	case "linux", "darwin", "windows", "freebsd", "netbsd", "dragonfly", "solaris":
		return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	}
	return false
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
