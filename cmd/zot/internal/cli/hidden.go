package cli

import (
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi"
)

// hidden runs what zot starts itself as, before anything else is set up: these
// words are no part of the command line that people type.
func hidden(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case wasi.RunnerArg:
		return wasi.RunnerMain(args[1:]), true
	case confine.HelperArg:
		return confine.HelperMain(args[1:]), true
	}
	return 0, false
}
