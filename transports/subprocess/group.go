package subprocess

import (
	"os"
	"sync"
	"time"
)

// A group is a process and what it started, as far as the system keeps track
// of that. Its number is used only while it is known to be the group's own:
// once nobody is left in it, the system may give it away.
type group struct {
	mu     sync.Mutex
	leader *os.Process
	reaped bool      // the leader is gone and reaped
	empty  bool      // and so is everybody else
	killed time.Time // when the kill was sent, or zero
}

func newGroup(leader *os.Process) *group { return &group{leader: leader} }

// leaderReaped notes that the leader is gone, and whether it was alone.
func (g *group) leaderReaped() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reaped = true
	g.empty = !g.occupied()
}

// alive says whether anybody is left.
func (g *group) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty && g.reaped {
		g.empty = !g.occupied()
	}
	return !g.empty
}

// terminate asks all of the group to leave.
func (g *group) terminate() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty {
		g.sendTerminate()
	}
}

// kill ends all of the group.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed.IsZero() {
		g.killed = time.Now()
	}
	if !g.empty {
		g.sendKill()
	}
}

func (g *group) killedAt() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}
