// Package builtin holds the tools that zot brings along: read, write, edit and
// bash. Each is a .go file and, beside it, the .md file that the model reads.
//
//	tools := builtin.New(builtin.Options{CWD: project})
//	defer builtin.Close(tools) // stops what bash left running
//
// One rule for all paths: package paths resolves what the model wrote to the
// real file, [Options.CheckPath] judges that, and that and nothing else is
// opened. A failure is a result that names the path and the cause; the file is
// then as it was.
//
// Memory is bounded by the limits of [Options], whatever a file or a command
// holds: a folder of large files and a command that prints for an hour cost
// the same as small ones.
package builtin

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/tool"
)

// Options are the settings of the tools. The zero value of each field means
// its default, but for CWD, which has none.
type Options struct {
	// CWD is the absolute folder that relative paths start from and commands
	// run in.
	CWD string
	// Home is what "~/" means; the user's home folder by default.
	Home string
	// Env gives the environment of commands, as os.Environ does, which is the
	// default. Whoever sets it withholds what commands must not see.
	Env func() []string
	// Shell is the shell of bash: a path or a name. By default bash, else sh;
	// on Windows one of those if installed, else PowerShell.
	Shell string
	// MaxLines and MaxBytes bound the text of one result: 2000 and 50 KiB.
	MaxLines int
	MaxBytes int
	// ReadLines and ReadBytes bound the results of read, where they differ.
	ReadLines int
	ReadBytes int
	// MaxImageSide bounds width and height of an image, in pixels: 2000.
	// Larger ones are scaled down.
	MaxImageSide int
	// SpillDir is the folder that takes the whole output of a command whose
	// result was cut, and what processes left in the background print. It is
	// created when needed; nothing in it is ever removed by this package.
	// Empty: nothing is saved, and nothing is promised to the model.
	SpillDir string
	// MaxSpill bounds one file in SpillDir, in bytes: 256 MiB.
	MaxSpill int64
	// BashTimeout is for calls that name none: 2 minutes. BashTimeoutMax is the
	// most that a call may ask for: 1 hour.
	BashTimeout    time.Duration
	BashTimeoutMax time.Duration
	// CheckPath judges each real path before it is opened; nil allows all. edit
	// asks for read and for write.
	CheckPath paths.Check
	// Jail is asked at each call of read, write and edit for what confines it to
	// its roots; nil, or a nil jail, does not. It stays the caller's to close.
	Jail func() *paths.Jail
	// Confine may change what is started for a command, so that it is held to
	// what its caller allows; the note is for the result of a command that
	// fails. Nil starts commands as they are.
	Confine func(cmd *exec.Cmd) (note string, err error)
}

func (o Options) withDefaults() Options {
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir()
	}
	if o.Env == nil {
		o.Env = os.Environ
	}
	o.MaxLines = orDefault(o.MaxLines, 2000)
	o.MaxBytes = orDefault(o.MaxBytes, 50<<10)
	o.MaxImageSide = orDefault(o.MaxImageSide, 2000)
	o.MaxSpill = orDefault(o.MaxSpill, 256<<20)
	o.BashTimeout = orDefault(o.BashTimeout, 2*time.Minute)
	o.BashTimeoutMax = orDefault(o.BashTimeoutMax, time.Hour)
	o.BashTimeout = min(o.BashTimeout, o.BashTimeoutMax)
	return o
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// New returns the tools read, write, edit and bash. Each also is a
// [tool.Accessor] and a [tool.Previewer]; the three on files are a [Pather].
// Hand them to [Close] at the end.
func New(o Options) []tool.Tool {
	o = o.withDefaults()
	f := newFiles(o)
	reading := o
	reading.MaxLines, reading.MaxBytes = orDefault(o.ReadLines, o.MaxLines), orDefault(o.ReadBytes, o.MaxBytes)
	return []tool.Tool{&readTool{files: f, opts: reading}, &writeTool{files: f}, &editTool{files: f}, newBash(o)}
}

// Close stops the processes that bash commands left running, SIGTERM first and
// SIGKILL half a second later, and makes further bash calls fail. It may be
// called more than once.
func Close(tools []tool.Tool) {
	for _, t := range tools {
		if c, ok := t.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// Pather is an extra ability of a tool: it says which files a call with the
// given arguments would touch, as they resolve now. The error is what the call
// would fail with.
type Pather interface {
	Paths(args []byte) ([]paths.Use, error)
}

// fill puts the limits into a description: {name} becomes its value.
func fill(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(text))
}

// relative shortens a real path to one below cwd, if it is there.
func relative(cwd, real string) string {
	if rel, err := filepath.Rel(cwd, real); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return real
}

// count writes a number with its noun: "1 line", "12 lines".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// size writes a number of bytes for people: "812 bytes", "1.4 MiB".
func size(n int64) string {
	if n < 1024 {
		return count(int(n), "byte")
	}
	v, units := float64(n), []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	unit := ""
	for _, u := range units {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " " + unit
}
