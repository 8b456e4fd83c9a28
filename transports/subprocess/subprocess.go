// Package subprocess runs an extension as a process of the operating system
// and carries its frames over its standard input and output.
//
//	path, err := subprocess.Resolve(dir, "./weather")
//	conn, err := subprocess.Start(ctx, subprocess.Options{Path: path, Dir: dir, Env: env})
//	…
//	exit := conn.Stop(ctx, transports.Grace{Exit: 2 * time.Second, Term: time.Second})
//
// The process leads a process group of its own, which is how everything that
// it starts is ended with it; only what leaves the group on purpose (setsid)
// gets away. Its pipes are held by nobody else, so it sees the end of its input
// when zot goes, however zot goes; on Linux it is sent SIGTERM then as well.
//
// Two goroutines belong to a process: one starts it, waits for it and clears
// up after it (life.go), one empties its standard error (stderr.go). Frames are
// read and written on the goroutines of the caller.
package subprocess

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// Options says what to start, and how.
type Options struct {
	Path string   // absolute, as from [Resolve]
	Args []string // without the program's name
	Dir  string   // working directory; empty is the caller's
	Env  []string // "KEY=value", the complete environment; nil is an empty one

	// Stderr gets all that the process writes to its standard error, as it
	// comes, from one goroutine. It should not block for long, since the
	// process then waits; once it fails it is not written to again. Nil
	// discards.
	Stderr io.Writer

	// MaxFrame bounds a frame in bytes, both ways; 0 is
	// [transports.DefaultMaxFrame].
	MaxFrame int

	// Prepare may change how the process is started, before it is. Nil does not.
	Prepare func(*exec.Cmd)

	// Extra are further files for the process. On Unix they are descriptors 3
	// and up; on Windows they are inherited as the handles that they are. The
	// caller closes them, right after Start if it likes.
	Extra []*os.File
}

// A Conn is a running process. It is a [transports.Conn].
type Conn struct {
	cmd   *exec.Cmd
	group *group

	readMu sync.Mutex // held while a frame is read, and while what is left is taken in
	frames *transports.FrameReader
	out    *output

	writeMu sync.Mutex // held while a frame is written
	broken  bool       // a write failed; guarded by writeMu
	in      *input
	closed  atomic.Bool // CloseWrite was called

	errs    *os.File // our end of standard error
	tail    transports.Tail
	drained chan struct{} // closed when errs has ended

	exit transports.Exit // written before done is closed
	done chan struct{}   // closed when the process is reaped
	gone chan struct{}   // closed when its group is gone too
}

var (
	_ transports.Conn        = (*Conn)(nil)
	_ transports.TimedReader = (*Conn)(nil)
)

// Start runs the program. ctx is looked at before the start only: a process is
// ended by [Conn.Stop]. The error is a *[StartError] where the program is to
// blame.
func Start(ctx context.Context, o Options) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := Check(o); err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, &StartError{Path: o.Path, Cause: "no pipes for it: " + err.Error(), Err: err}
	}
	c := &Conn{
		cmd:     command(o, pipes),
		out:     &output{file: pipes.outRead},
		in:      &input{file: pipes.inWrite},
		errs:    pipes.errRead,
		drained: make(chan struct{}),
		done:    make(chan struct{}),
		gone:    make(chan struct{}),
	}
	c.frames = transports.NewFrameReader(c.out, o.MaxFrame)
	c.in.frames = transports.NewFrameWriter(c.in, o.MaxFrame)

	started := make(chan error, 1)
	go c.live(o.Stderr, started)
	err = <-started
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return nil, explain(o, err)
	}
	return c, nil
}

func command(o Options, p *pipes) *exec.Cmd {
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Dir = o.Dir
	cmd.Env = append([]string{}, o.Env...) // never nil, which would inherit ours
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.inRead, p.outWrite, p.errWrite
	prepare(cmd, o.Extra)
	if o.Prepare != nil {
		o.Prepare(cmd)
	}
	return cmd
}

// ReadFrame implements [transports.Conn].
func (c *Conn) ReadFrame() ([]byte, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	_ = c.out.readUntil(time.Time{})
	return c.frames.ReadFrame()
}

// ReadFrameBy implements [transports.TimedReader].
func (c *Conn) ReadFrameBy(deadline time.Time) ([]byte, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if err := c.out.readUntil(deadline); err != nil {
		return nil, err
	}
	return c.frames.ReadFrame()
}

// Done implements [transports.Conn].
func (c *Conn) Done() <-chan struct{} { return c.done }

// Exit implements [transports.Conn].
func (c *Conn) Exit() transports.Exit {
	select {
	case <-c.done:
		return c.exit
	default:
		return transports.Exit{}
	}
}

// Pid is the number of the process, which is also that of its group.
func (c *Conn) Pid() int { return c.cmd.Process.Pid }

// unkillable bounds the wait for a process that SIGKILL does not end, as one
// that hangs in a system call on a lost network drive.
const unkillable = 5 * time.Second

// Stop implements [transports.Conn]. Several calls may overlap: the most
// impatient one sets the pace.
func (c *Conn) Stop(ctx context.Context, grace transports.Grace) transports.Exit {
	_ = c.CloseWrite()
	if !c.goneWithin(ctx, grace.Exit) {
		c.group.terminate()
	}
	if !c.goneWithin(ctx, grace.Term) {
		c.group.kill()
	}
	if !c.goneWithin(context.Background(), unkillable) {
		return transports.Exit{Signal: "killed", Reason: "not gone yet: it does not react to SIGKILL", StderrTail: c.tail.String()}
	}
	c.readMu.Lock()
	defer c.readMu.Unlock()
	c.out.salvage()
	return c.exit
}

// goneWithin waits until nothing of the process is left, for d at most.
func (c *Conn) goneWithin(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.gone:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// live is the goroutine that a process lives on.
func (c *Conn) live(stderr io.Writer, started chan<- error) {
	// The parent-death signal is tied to the thread that forked: it would come
	// when this thread ends, so the goroutine keeps it for as long as the
	// process lives.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := startRetrying(c.cmd)
	if err == nil {
		c.group = newGroup(c.cmd.Process)
	}
	started <- err
	if err != nil {
		return
	}
	go c.drain(stderr)
	c.await()
}
