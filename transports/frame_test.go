package transports

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readAll returns the frames of r as strings, and the error that ended them.
func readAll(r io.Reader, maxFrame int) ([]string, error) {
	frames := NewFrameReader(r, maxFrame)
	var all []string
	for {
		frame, err := frames.ReadFrame()
		if err != nil {
			return all, err
		}
		all = append(all, string(frame))
	}
}

func TestFramesAreCutFromTheStream(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"byte order mark and carriage returns", "\xef\xbb\xbf{\"a\":1}\r\n{\"b\":2}\r\n", []string{`{"a":1}`, `{"b":2}`}},
		{"byte order mark alone", "\xef\xbb\xbf\n{}\n", []string{"{}"}},
		{"blank lines", "\n\r\n \t\n{}\n\n", []string{"{}"}},
		{"no newline at the end", "{}\n[]", []string{"{}", "[]"}},
		{"inner white space stays", "  { \"a\" : 1 }  \n", []string{`  { "a" : 1 }  `}},
		{"70 KB, 3 MiB and 100 bytes", long[:70_000] + "\n" + long + "\n" + long[:100] + "\n", []string{long[:70_000], long, long[:100]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(test.in), 0)
			if !errors.Is(err, io.EOF) {
				t.Errorf("error = %v, want EOF", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLineAtTheLimit(t *testing.T) {
	exact := strings.Repeat("x", 100)
	for _, in := range []string{exact, exact + "\n", exact + "\r\n", byteOrderMark + exact + "\r\n"} {
		if got, err := readAll(strings.NewReader(in), 100); len(got) != 1 || got[0] != exact || err != io.EOF {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestOverlongLine(t *testing.T) {
	const limit = 100_000
	for _, test := range []struct {
		name    string
		line    string
		size    int
		partial bool
	}{
		{"by one", strings.Repeat("x", limit+1) + "\n", limit + 1, false},
		{"end seen", strings.Repeat("x", 2*limit) + "\n", 2 * limit, false},
		{"end of stream", strings.Repeat("x", 2*limit), 2 * limit, false},
		{"endless", strings.Repeat("x", 10*limit) + "\n", 4 * limit, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewFrameReader(strings.NewReader("{\"id\":7}\n"+test.line), limit)
			if frame, err := r.ReadFrame(); string(frame) != `{"id":7}` || err != nil {
				t.Fatalf("frame before it = %q, %v", frame, err)
			}
			for range 2 { // it stays so
				_, err := r.ReadFrame()
				var tooLong *FrameTooLongError
				if !errors.As(err, &tooLong) {
					t.Fatalf("error = %v", err)
				}
				if tooLong.Size != test.size || tooLong.Partial != test.partial || tooLong.Limit != limit || len(tooLong.Head) != headBytes {
					t.Errorf("got size %d, partial %v, limit %d, head of %d", tooLong.Size, tooLong.Partial, tooLong.Limit, len(tooLong.Head))
				}
			}
		})
	}
}

// stalled gives its bytes and then blocks until its deadline.
type stalled struct {
	io.Reader
	deadline time.Time
}

func (s *stalled) SetReadDeadline(t time.Time) error { s.deadline = t; return nil }

func (s *stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		time.Sleep(time.Until(s.deadline))
		err = errors.New("deadline")
	}
	return n, err
}

func TestOverlongLineThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := NewFrameReader(&stalled{Reader: strings.NewReader(strings.Repeat("x", 200))}, 100).ReadFrame()
		var tooLong *FrameTooLongError
		if !errors.As(err, &tooLong) || !tooLong.Partial || tooLong.Size != 200 {
			t.Errorf("error = %#v", err)
		}
		if waited := time.Since(start); waited != skipTime {
			t.Errorf("waited %v for the end of the line, want %v", waited, skipTime)
		}
	})
}

// hasty times out before every read that it lets through.
type hasty struct {
	io.Reader
	passed bool
}

func (h *hasty) Read(p []byte) (int, error) {
	if h.passed = !h.passed; h.passed {
		return 0, os.ErrDeadlineExceeded
	}
	return h.Reader.Read(p)
}

// patient reads on after every timeout.
func patient(r io.Reader, maxFrame int) ([]string, error) {
	frames := NewFrameReader(&hasty{Reader: r}, maxFrame)
	var all []string
	for {
		frame, err := frames.ReadFrame()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return all, err
		default:
			all = append(all, string(frame))
		}
	}
}

func TestReadingGoesOnAfterADeadline(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	got, err := patient(iotest.HalfReader(strings.NewReader("{\"a\":1}\n"+long+"\r\n\n{}")), 0)
	if diff := cmp.Diff([]string{`{"a":1}`, long, "{}"}, got); diff != "" || err != io.EOF {
		t.Errorf("error %v, frames (-want +got):\n%s", err, diff)
	}
}

func TestPartOfALineBeforeAFailureIsNoFrame(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("{}\n{\"a"), iotest.ErrReader(broken)), 0)
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWriterRefusesWhatIsNotOneLine(t *testing.T) {
	var out bytes.Buffer
	w := NewFrameWriter(&out, 10)
	for _, frame := range []string{"", " ", "\r", "{\n}", "{}\n"} {
		if err := w.WriteFrame([]byte(frame)); !errors.Is(err, ErrNotOneLine) {
			t.Errorf("WriteFrame(%q) = %v", frame, err)
		}
	}
	var tooLong *FrameTooLongError
	if err := w.WriteFrame(make([]byte, 11)); !errors.As(err, &tooLong) || tooLong.Size != 11 {
		t.Errorf("too long: %v", err)
	}
	if err := w.WriteFrame([]byte("{}")); err != nil || out.String() != "{}\n" {
		t.Errorf("wrote %q, %v", &out, err)
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var tail Tail
	for range 1000 {
		tail.Write([]byte("\r10% done"))
	}
	tail.Write([]byte("\nfatal: no disk\n"))
	got := tail.String()
	if !strings.HasSuffix(got, "\nfatal: no disk\n") || len(got) > TailSize || !strings.HasPrefix(got, "10% done") {
		t.Errorf("tail of %d bytes = %.20q … %q", len(got), got, got[len(got)-20:])
	}
	tail.Write(bytes.Repeat([]byte("y"), 3*TailSize))
	if got := tail.String(); got != strings.Repeat("y", TailSize) {
		t.Errorf("tail after one big write has %d bytes", len(got))
	}
}

// FuzzFrames checks that how bytes arrive makes no difference, and that what
// was read can be written and read again.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", "\xef\xbb\xbf{}\r\n{}\r\n", "a\r\r\n", "\xef\xbb\xbf\xef\xbb\xbfa", " \r\n\t\nx",
		strings.Repeat("x", 40) + "\n", strings.Repeat("x", 300) + "\ny\n", "a\nb", strings.Repeat("\r", 50) + "\n",
		"\xef\xbb\xbf" + strings.Repeat("x", 32) + "\r\n", "\x00\xff\n",
	} {
		f.Add([]byte(seed))
	}
	const limit = 32
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readAll(bytes.NewReader(in), limit)
		slow, slowErr := readAll(iotest.OneByteReader(bytes.NewReader(in)), limit)
		if diff := cmp.Diff(got, slow); diff != "" {
			t.Errorf("at once and byte by byte differ (-at once +slow):\n%s", diff)
		}
		if diff := cmp.Diff(err.Error(), slowErr.Error()); diff != "" {
			t.Errorf("errors differ:\n%s", diff)
		}
		if broken, _ := patient(iotest.OneByteReader(bytes.NewReader(in)), limit); err == io.EOF {
			if diff := cmp.Diff(got, broken); diff != "" {
				t.Errorf("at once and with deadlines differ (-at once +with):\n%s", diff)
			}
		}
		var out bytes.Buffer
		w := NewFrameWriter(&out, limit)
		for _, frame := range got {
			if err := w.WriteFrame([]byte(frame)); err != nil {
				t.Fatalf("writing %q, which was read: %v", frame, err)
			}
		}
		again, err := readAll(&out, limit)
		if diff := cmp.Diff(got, again); diff != "" || err != io.EOF {
			t.Errorf("after a round trip (-first +second), %v:\n%s", err, diff)
		}
	})
}
