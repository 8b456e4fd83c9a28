package builtin

import "golang.org/x/sys/unix"

const zombie = 5 // SZOMB of <sys/proc.h>

// members lists the processes of the shell's group that are alive.
func (g group) members() []int {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", g.id)
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range procs {
		if p.Proc.P_stat != zombie {
			pids = append(pids, int(p.Proc.P_pid))
		}
	}
	return pids
}
