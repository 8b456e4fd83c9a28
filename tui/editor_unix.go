//go:build !windows

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

const canSuspend = true

var (
	defaultEditor = []string{"vi"}
	defaultPager  = []string{"less"}
)

// suspendProcess stops the process group, as the terminal does on Ctrl+Z, and
// returns when it goes on.
func suspendProcess() error {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-on
	return nil
}
