package confinement

import (
	"os/exec"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/transports/confine"
)

// HomeUnshielded says why this system cannot keep a command from changing zot's
// state; empty where it can.
func HomeUnshielded() string { return confine.ShieldMissing() }

// ShieldHome has a command, and all that it starts, find zot's state read-only:
// what was approved, settings, locks, credentials and the code of extensions. What
// decides nothing stays open, for a zot that is started by a command.
func ShieldHome(h home.Home, cmd *exec.Cmd) error {
	return confine.Shield{
		Keep: []string{h.Dir()},
		But:  []string{h.SessionsDir(), h.LogsDir(), h.Path("data"), h.Path("history"), h.Path("locks")},
	}.Over(cmd)
}
