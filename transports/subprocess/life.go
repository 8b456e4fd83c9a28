package subprocess

import (
	"errors"
	"os/exec"
	"time"

	"github.com/patriceckhart/zot/transports"
)

const (
	// linger is how long the pipes are listened to after the process has died,
	// for the case that something else holds them open.
	linger = 100 * time.Millisecond

	// lastWords is how long who writes down its standard error may take then.
	lastWords = 2 * time.Second

	// leftoverTerm is what is left of the group is given to go by itself, and
	// leftoverKill what the system is given to remove it when killed. Zombies
	// that nobody reaps stay for ever, so there is an end to that wait.
	leftoverTerm = time.Second
	leftoverKill = 250 * time.Millisecond
	leftoverPoll = 5 * time.Millisecond
)

// await waits for the process, says how it ended, and then sees to what is
// left of its group.
func (c *Conn) await() {
	err := c.cmd.Wait()
	c.group.leaderReaped()
	c.out.ended()
	_ = c.errs.SetReadDeadline(time.Now().Add(linger))
	c.awaitStderr()

	c.exit = exitOf(c.cmd, err)
	c.exit.StderrTail = c.tail.String()
	close(c.done)
	_ = c.in.file.Close() // after done, so that a writer learns why

	c.group.sweep()
	close(c.gone)
}

// awaitStderr waits until the last words are in. A log that blocks may not
// delay the news of the death.
func (c *Conn) awaitStderr() {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-c.drained:
	case <-timer.C:
	}
}

func exitOf(cmd *exec.Cmd, err error) transports.Exit {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return transports.Exit{Code: -1, Reason: "waiting for it: " + err.Error()}
	}
	exit := transports.Exit{Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState)}
	if exit.Signal != "" {
		exit.Code = 0
	}
	return exit
}

// sweep ends what the process left behind in its group: a request, some time,
// a kill.
func (g *group) sweep() {
	if !g.alive() {
		return
	}
	g.terminate()
	killAt := time.Now().Add(leftoverTerm)
	for g.alive() {
		switch killed := g.killedAt(); {
		case !killed.IsZero() && time.Since(killed) > leftoverKill:
			return
		case killed.IsZero() && time.Now().After(killAt):
			g.kill()
		}
		time.Sleep(leftoverPoll) // these are no children of ours: nobody tells us
	}
}
