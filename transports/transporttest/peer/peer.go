// Package peer holds the small programs on the far side of the contract suite
// in transporttest. It is a package of its own, free of the testing package, so
// that it can be built into whatever a transport runs: this test binary under
// another name, a WebAssembly module, a function.
package peer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Stdio is what a program talks through.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Names of the programs, and what each does. Unless said otherwise a program
// leaves with status 0 when its context ends.
const (
	Echo         = "echo"          // gives each line back, to the end of its input
	Sizes        = "sizes"         // frames of 70 KB, 3 MiB and 100 bytes for each line that comes
	Framing      = "framing"       // byte order mark, CR LF, blank lines, no newline at the end; leaves
	Overlong     = "overlong"      // a frame of OverlongSize bytes, then stays
	OverlongOpen = "overlong-open" // the same without an end
	Half         = "half"          // a whole line and half of another, then stays
	Silent       = "silent"        // neither reads nor writes
	Flood        = "flood"         // writes for ever and never reads
	BigFirst     = "big-first"     // writes BigSize bytes before it reads, then echoes
	Noisy        = "noisy"         // NoisySize bytes on standard error before each echo
	Dies         = "dies"          // three frames, a line on standard error, status 3
	Bye          = "bye"           // reads to the end of its input, writes one frame, leaves
	Stubborn     = "stubborn"      // says that it is up; goes on whatever it is told
)

// Sizes in bytes.
const (
	OverlongSize = 5_000_000
	BigSize      = 1_000_000
	NoisySize    = 300_000
)

// LastWords is what [Dies] and [Noisy] end their standard error with.
const LastWords = "fatal: out of luck"

var programs = map[string]func(context.Context, Stdio) int{
	Echo:         echo,
	Sizes:        sizes,
	Framing:      framing,
	Overlong:     overlong("}\n"),
	OverlongOpen: overlong(""),
	Half:         half,
	Silent:       silent,
	Flood:        flood,
	BigFirst:     bigFirst,
	Noisy:        noisy,
	Dies:         dies,
	Bye:          bye,
	Stubborn:     stubborn,
}

// Names returns the names of all programs, sorted.
func Names() []string {
	var names []string
	for name := range programs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Main runs the program of that name and returns its exit status. ctx ends
// when the program is asked to leave.
func Main(ctx context.Context, name string, s Stdio) int {
	run, ok := programs[name]
	if !ok {
		fmt.Fprintf(s.Err, "no program %q\n", name)
		return 127
	}
	return run(ctx, s)
}

func echo(_ context.Context, s Stdio) int { return echoAfter(s, func() {}) }

func echoAfter(s Stdio, first func()) int {
	in := bufio.NewReaderSize(s.In, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		first()
		if _, err := s.Out.Write(line); err != nil {
			return 1
		}
	}
}

func sizes(_ context.Context, s Stdio) int {
	in := bufio.NewReader(s.In)
	for {
		if _, err := in.ReadBytes('\n'); err != nil {
			return 0
		}
		for _, n := range []int{70_000, 3 << 20, 100} {
			fmt.Fprintf(s.Out, "%s\n", Frame(n))
		}
	}
}

// Frame returns a JSON object of n bytes, which is at least 20.
func Frame(n int) string {
	const head, tail = `{"id":7,"x":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func framing(_ context.Context, s Stdio) int {
	io.WriteString(s.Out, "\xef\xbb\xbf{\"n\":1}\r\n\r\n\n  \t\n{\"n\":2}\r\n\xef\xbb\xbf\n{\"n\":3}")
	return 0
}

func overlong(end string) func(context.Context, Stdio) int {
	return func(ctx context.Context, s Stdio) int {
		io.WriteString(s.Out, strings.TrimSuffix(Frame(OverlongSize), "}")+end)
		return silent(ctx, s)
	}
}

func half(ctx context.Context, s Stdio) int {
	io.WriteString(s.Out, "{\"whole\":true}\n{\"hal")
	return silent(ctx, s)
}

// silent waits with a timer, since a WebAssembly guest that waits for a
// channel alone is taken for deadlocked.
func silent(ctx context.Context, _ Stdio) int {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
	return 0
}

func flood(_ context.Context, s Stdio) int {
	for {
		if _, err := io.WriteString(s.Out, Frame(1000)+"\n"); err != nil {
			return 1
		}
	}
}

func bigFirst(ctx context.Context, s Stdio) int {
	io.WriteString(s.Out, Frame(BigSize)+"\n")
	return echo(ctx, s)
}

func noisy(_ context.Context, s Stdio) int {
	const step = "\r 10% of the work is done"
	return echoAfter(s, func() {
		for n := 0; n < NoisySize; n += len(step) {
			io.WriteString(s.Err, step)
		}
		io.WriteString(s.Err, "\n"+LastWords)
	})
}

func dies(_ context.Context, s Stdio) int {
	for n := range 3 {
		fmt.Fprintf(s.Out, "{\"n\":%d}\n", n)
	}
	io.WriteString(s.Err, LastWords+"\n")
	return 3
}

func bye(_ context.Context, s Stdio) int {
	io.Copy(io.Discard, s.In)
	io.WriteString(s.Out, "{\"bye\":true}\n")
	return 0
}

// stubborn writes blank lines, which mean nothing, and so notices when there
// is nobody left to ignore.
func stubborn(_ context.Context, s Stdio) int {
	io.WriteString(s.Out, "{\"up\":true}\n")
	for {
		time.Sleep(10 * time.Millisecond)
		if _, err := io.WriteString(s.Out, "\n"); err != nil {
			return 1
		}
	}
}
