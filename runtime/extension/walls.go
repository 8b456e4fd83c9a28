package extension

import (
	"fmt"
	"time"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/transports"
)

// hearWalls takes down what the walls around an extension keep from it: in its
// log, for doctor, and in the log of decisions. The channel is closed when all
// is heard, soon after the end of the connection.
func (p *peer) hearWalls(conn transports.Conn) <-chan struct{} {
	heard := make(chan struct{})
	walls, ok := conn.(transports.Refuser)
	if !ok {
		close(heard)
		return heard
	}
	go func() {
		defer close(heard)
		for r := range walls.Refusals() {
			p.refusedByWalls(r)
		}
	}()
	return heard
}

// awaitWalls waits until all is heard of a connection that has ended: what was
// refused is taken down before the end is.
func (p *peer) awaitWalls() {
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	select {
	case <-p.walls:
	case <-timer.C:
	}
}

func (p *peer) refusedByWalls(r transports.Refusal) {
	if r.Limit != "" {
		p.metLimit(r.Limit, "it has reached limits."+r.Limit)
		return
	}
	c, what := policies.FSRead, fmt.Sprintf("reading %q", r.Path)
	if r.Write {
		c, what = policies.FSWrite, fmt.Sprintf("changing %q", r.Path)
	}
	// The path may lie in what was granted and still lead out of it.
	d := policies.Decision{
		Verdict: policies.Deny, Code: policies.CodeOutsideGrant, By: policies.Origin{Builtin: true},
		Reason: "it leads out of the folders that were granted, or makes a link or a right that could",
	}
	if sc := p.scope.Load(); sc != nil {
		if judged := sc.rights.Use(c, r.Path); !judged.Allowed() {
			d = judged
		}
	}
	p.m.update(func(fx *effects) { p.refuse(fx, false, c, r.Path, what, d) })
}

// metLimit takes down that an extension was held to a limit, or ended by it.
func (p *peer) metLimit(limit, reason string) {
	d := limitDecision(reason, limit)
	p.m.update(func(fx *effects) { p.refuse(fx, false, "limits", limit, "more of "+limit, d) })
}
