//go:build !linux || !(amd64 || arm64)

package confine

import (
	"errors"
	"os/exec"
)

const canShield = false

// Prepare does nothing: [ShieldMissing] says so.
func (Shield) Prepare(*exec.Cmd) {}

func (Shield) raise() error { return errors.ErrUnsupported }
