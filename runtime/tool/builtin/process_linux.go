package builtin

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// members lists the processes of the session that are alive; zombies are not.
func (g group) members() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if session, alive := sessionOf(name); alive && session == g.id {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// sessionOf reads the fields that follow the name in parentheses, which may
// itself hold spaces and parentheses: state, parent, group, session.
func sessionOf(pid string) (session int, alive bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return 0, false
	}
	session, err = strconv.Atoi(string(fields[3]))
	state := fields[0][0]
	return session, err == nil && state != 'Z' && state != 'X'
}
