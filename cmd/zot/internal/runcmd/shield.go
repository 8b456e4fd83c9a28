package runcmd

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/confinement"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

// confine holds a command of the model to what this session allows: to the
// project where the jail is on, and else away from what decides about trust.
// Skipping confirmations does not lift it; what the user types after "!" is
// the user's own.
func (a *run) confine(cmd *exec.Cmd) (note string, err error) {
	if a.jail.active() && confinement.FilesUnenforced() == "" {
		return a.jail.confine(cmd)
	}
	if !a.w.Settings.Config.Bash.ProtectHome || confinement.HomeUnshielded() != "" {
		return "", nil
	}
	dir, line := a.w.Home.Dir(), strings.Join(cmd.Args, " ")
	if err := confinement.ShieldHome(a.w.Home, cmd); err != nil {
		return "", fmt.Errorf("keeping %s as it is: %w", dir, err)
	}
	if strings.Contains(line, dir) || strings.Contains(line, "ZOT_HOME") || strings.Contains(line, "zot ") {
		note = dir + " is read-only for commands: settings, policy and trust are changed by their user alone"
	}
	return note, nil
}

// ownTools are the tools for what the user types, which only the jail bounds.
func (a *run) ownTools() []tool.Tool {
	a.ownOnce.Do(func() {
		o := a.toolOptions()
		o.Confine = a.jail.confine
		a.own = builtin.New(o)
	})
	return a.own
}

// closeOwn stops what the user's own commands left running.
func (a *run) closeOwn() {
	for _, t := range a.ownTools() {
		if c, ok := t.(io.Closer); ok {
			_ = c.Close()
		}
	}
}
