package cli

import (
	"errors"
	"testing"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
)

// An error often quotes what a server, a file or an extension said: none of it
// steers the terminal.
func TestReportIsPrintable(t *testing.T) {
	s, _, out := iostreams.Test("")
	code := report(errors.New("the server says: \x1b]0;owned\x07\x1b[2Jexe.\u202etxt\nits log:\tx"), s)
	if code != exit.Failed {
		t.Errorf("code %d, want %d", code, exit.Failed)
	}
	want := "zot: the server says: \\u001b]0;owned\\u0007\\u001b[2Jexe.\\u202etxt\nits log: x\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
