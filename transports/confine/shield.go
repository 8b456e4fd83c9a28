package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A Shield keeps a process, and all that it starts, from changing some folders,
// and leaves it everything else. It is weaker than a [Policy]: it is for what
// has the rights of its user, and who has them can have another program of the
// user's, one that runs already, do the writing.
type Shield struct {
	Keep []string `json:"keep"` // folders in which nothing can be written
	But  []string `json:"but"`  // folders in them in which it can
	Hide []string `json:"hide"` // folders and files that are not reached at all
}

// Over changes what is started so that it starts behind the shield. The system
// must have it; see [ShieldMissing].
func (s Shield) Over(cmd *exec.Cmd) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("shielding %q: %w", cmd.Path, err)
	}
	policy, err := json.Marshal(Policy{Shield: &s})
	if err != nil {
		return err
	}
	cmd.Args = append([]string{self, HelperArg, string(policy), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	s.Prepare(cmd)
	return nil
}

// probing marks the environment of a probe, which must not probe itself.
const probing = "ZOT_SHIELD_PROBE"

// ShieldMissing says why there can be no [Shield] here; it is empty where there
// can. The first call tries.
var ShieldMissing = sync.OnceValue(func() string {
	if os.Getenv(probing) != "" {
		return "it is being tried"
	}
	if err := tryShield(); err != nil {
		return err.Error()
	}
	return ""
})

// tryShield raises a shield over nothing.
func tryShield() error {
	if !canShield {
		return errors.New("this system has no mounts of a process's own")
	}
	dir, err := os.MkdirTemp("", "zot-shield-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "")
	if err := (Shield{Keep: []string{dir}}).Over(cmd); err != nil {
		return err
	}
	cmd.Err = nil // there is no program to be looked for
	cmd.Env = append(os.Environ(), probing+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("this system does not let a process have mounts of its own: %w %.200s", err, out)
	}
	return nil
}
