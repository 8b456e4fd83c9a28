package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// termGrace is how long a group has between SIGTERM and SIGKILL.
	termGrace = 500 * time.Millisecond
	// drainGrace is how long output is still taken after the shell has exited,
	// while some other process holds the pipe open.
	drainGrace = 200 * time.Millisecond
	pollEvery  = 10 * time.Millisecond
)

// A process is a shell with all that it started.
type process struct {
	cmd     *exec.Cmd
	group   group
	pipe    *os.File // the reading end
	out     *output
	started time.Time
	note    string // of who confined it, for the result; or empty

	exited  chan struct{} // closed when the shell has been waited for
	drained chan struct{} // closed when nobody writes to the pipe any more
	free    sync.Once
}

// Why a command ended.
const (
	finished  = "finished"
	timedOut  = "timed out"
	cancelled = "cancelled"
)

// An ending is how a command ended.
type ending struct {
	why     string
	state   *os.ProcessState
	took    time.Duration
	limit   time.Duration
	running []int // processes of the command that still run
	piped   bool  // something still holds the pipe
	capped  bool  // more time was asked for than is allowed
	note    string
}

// startProcess starts cmd with an empty input and one pipe for both of its
// outputs, so that their order is kept.
func startProcess(cmd *exec.Cmd, out *output) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe for the command: %w", err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	prepare(cmd)
	p := &process{cmd: cmd, pipe: r, out: out, started: time.Now(), exited: make(chan struct{}), drained: make(chan struct{})}
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, startError(cmd, err)
	}
	p.group = newGroup(cmd.Process)
	go func() { // ends with the shell, which stop ends at the latest
		_ = cmd.Wait() // the state tells it all
		close(p.exited)
	}()
	go func() { // ends when the last writer is gone, or release closes the pipe
		p.copyOutput()
		close(p.drained)
	}()
	return p, nil
}

func startError(cmd *exec.Cmd, err error) error {
	if isTooLong(err) {
		return errors.New("the command is too long for this system: write it to a file with the write tool and run that")
	}
	return fmt.Errorf("starting the shell %q: %w", cmd.Path, err)
}

func (p *process) copyOutput() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.pipe.Read(buf)
		p.out.write(buf[:n])
		if err != nil {
			return
		}
	}
}

// wait waits for the shell. On a timeout and on ctx's end it stops the whole
// group first. It returns shortly after the shell has exited even if other
// processes hold the pipe open.
func (p *process) wait(ctx context.Context, timeout time.Duration) ending {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	end := ending{why: finished, limit: timeout}
	select {
	case <-p.exited:
	case <-timer.C:
		end.why = timedOut
	case <-ctx.Done():
		end.why = cancelled
	}
	if end.why != finished {
		p.stop()
	}
	end.took = time.Since(p.started)
	end.piped = !within(p.drained, drainGrace)
	if end.why == finished {
		end.running = p.group.members()
		// With nobody left to print, what is in the pipe only has to be read.
		end.piped = end.piped && (len(end.running) > 0 || !within(p.drained, drainGrace))
	} else {
		end.piped = false // whoever still holds it has left the group on purpose
	}
	end.state = p.cmd.ProcessState
	return end
}

// within waits for c, but no longer than d.
func within(c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// stop ends the group, politely first, and frees what it held.
func (p *process) stop() {
	p.group.terminate()
	for deadline := time.Now().Add(termGrace); !p.over() && time.Now().Before(deadline); {
		time.Sleep(pollEvery)
	}
	if !p.over() {
		p.group.kill()
		within(p.exited, 2*time.Second) // a process in the kernel's hands can take its time
		within(p.drained, drainGrace)
	}
	p.release()
}

// over reports whether nothing of the command is left.
func (p *process) over() bool {
	select {
	case <-p.exited:
	default:
		return false
	}
	select {
	case <-p.drained:
		return len(p.group.members()) == 0
	default:
		return false // somebody still prints, if not in the group then outside of it
	}
}

// release closes the pipe and everything else that was held.
func (p *process) release() {
	p.free.Do(func() {
		p.pipe.Close()
		p.group.release()
		p.out.close()
	})
}

// ok reports whether the command did what it was asked to, by its own account.
func (e ending) ok() bool { return e.why == finished && e.state != nil && e.state.Success() }

// words is the footer of a result: "exit code 1, 2.3s".
func (e ending) words() string {
	took := e.took.Round(10 * time.Millisecond)
	if e.took >= 10*time.Second {
		took = e.took.Round(100 * time.Millisecond)
	}
	switch e.why {
	case timedOut:
		return fmt.Sprintf("timed out after %s: the command and all it started were stopped; give a longer timeout, or run it in the background with & and its output to a file", e.limit)
	case cancelled:
		return fmt.Sprintf("cancelled after %s: the command and all it started were stopped", took)
	}
	if e.state == nil {
		return fmt.Sprintf("the exit code is not known, %s", took)
	}
	return fmt.Sprintf("%s, %s", exitWords(e.state), took)
}

// background says what still runs, or "".
func (e ending) background(file string) string {
	if len(e.running) == 0 && !e.piped {
		return ""
	}
	var s string
	switch n := len(e.running); n {
	case 0:
		s = "a process that it started and that left its group still runs"
	default:
		s = plural(n, "process that it started still runs", "processes that it started still run") + " in the background (pid " + pids(e.running) + "), to be stopped when zot exits"
	}
	if e.piped && file != "" {
		s += fmt.Sprintf("; further output goes to %q", file)
	} else if e.piped {
		s += "; further output is dropped, so start it with its output to a file to see it"
	}
	return s
}

func pids(all []int) string {
	var s []string
	for i, pid := range all {
		if i == 10 {
			s = append(s, "…")
			break
		}
		s = append(s, fmt.Sprint(pid))
	}
	return strings.Join(s, ", ")
}
