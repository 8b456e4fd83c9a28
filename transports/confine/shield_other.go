//go:build !linux || !(amd64 || arm64)

package confine

import (
	"errors"
	"os/exec"
)

const canShield = false

func (Shield) prepare(*exec.Cmd) {}

func (Shield) raise() error { return errors.ErrUnsupported }
