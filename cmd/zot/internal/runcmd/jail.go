package runcmd

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/confinement"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies/paths"
)

// A jail keeps the built-in tools inside the project: the file tools through a
// folder that is held open, and commands by the operating system where it can.
// It can be switched while the session runs, and is safe for concurrent use.
type jail struct {
	root string // the project
	own  string // the session's own folder: outputs that were too long, read by the model later

	mu     sync.Mutex
	folder *paths.Jail // held from the first time on
	on     bool
}

// set switches it. What it cannot hold is for words to say.
func (j *jail) set(on bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if on && j.folder == nil {
		if err := home.EnsureDir(j.temp()); err != nil {
			return fmt.Errorf("jail: %w", err)
		}
		folder, err := paths.NewJail(j.root, j.own)
		if err != nil {
			return err
		}
		j.folder = folder
	}
	j.on = on
	return nil
}

// temp is the folder for temporary files of commands in the jail.
func (j *jail) temp() string { return filepath.Join(j.own, "tmp") }

// close lets go of the project and removes the temporary files.
func (j *jail) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.folder == nil {
		return
	}
	_ = j.folder.Close()
	j.on, j.folder = false, nil
	_ = os.RemoveAll(j.temp())
	_ = os.Remove(j.own) // unless an output is in it
}

// active reports whether it holds now.
func (j *jail) active() bool { return j.current() != nil }

// current is what confines the file tools; nil while it is off.
func (j *jail) current() *paths.Jail {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.on {
		return nil
	}
	return j.folder
}

// words say what holds, and what does not with its cause.
func (j *jail) words() string {
	if !j.active() {
		return "off: tools reach every file that you can reach"
	}
	s := "on: files are read and written in " + j.root + " alone"
	if cause := confinement.FilesUnenforced(); cause != "" {
		return s + " by read, write and edit; commands of bash are not held to it: " + cause
	}
	return s + ", by commands too, which besides read the system's own folders; the network stays open, and extensions have rights of their own"
}

// confine holds a command to the project where this system can.
func (j *jail) confine(cmd *exec.Cmd) (note string, err error) {
	if !j.active() || confinement.FilesUnenforced() != "" {
		return "", nil
	}
	temp := j.temp()
	cmd.Env = append(cmd.Env, "TMPDIR="+temp, "XDG_CACHE_HOME="+temp, "GOCACHE="+filepath.Join(temp, "go-build"))
	program, args, err := confinement.Shell([]string{j.root, temp}, []string{j.own}, cmd)
	if err != nil {
		return "", fmt.Errorf("jail: %w", err)
	}
	cmd.Path, cmd.Args = program, append([]string{program}, args...)
	return "files outside of " + j.root + " are out of reach: the jail is on", nil
}

// outputsKept is how long the outputs of earlier sessions stay: a conversation
// that is resumed may go back to them.
const outputsKept = 7 * 24 * time.Hour

// newJail returns the jail of a session, switched off, and clears away the
// folders of sessions long gone.
func (a *run) newJail() *jail {
	all := filepath.Join(a.w.Home.CacheDir(), "output")
	entries, _ := os.ReadDir(all) // none, or nothing to clear away
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > outputsKept {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
	return &jail{root: a.w.ProjectRoot, own: filepath.Join(all, strings.ToLower(rand.Text()[:12]))}
}

// openJail switches the jail on where flags or settings say so, and tells what
// cannot be held.
func (a *run) openJail() error {
	a.jail = a.newJail()
	if !a.w.Settings.Config.Jail {
		return nil
	}
	if err := a.jail.set(true); err != nil {
		return err
	}
	if confinement.FilesUnenforced() != "" {
		a.notice("warn", "jail "+a.jail.words())
	}
	return nil
}
