package cli

// hidden runs what zot starts itself as, before anything else is set up: these
// words are no part of the command line that people type.
func hidden(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	return 0, false
}
