package tuitest

import (
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// KeepClock keeps the clock of the regular expressions that colour code running
// outside of any synctest bubble. It is one goroutine for the whole process that
// starts with the first match and ends when idle; started inside a bubble it
// would belong to that bubble and its time. A TestMain calls it before the tests
// run and never has to end it.
func KeepClock() {
	match := func() {
		it, err := lexers.Get("go").Tokenise(nil, "package x // y\n")
		if err != nil {
			return
		}
		for tok := it(); tok != chroma.EOF; tok = it() {
			continue
		}
	}
	match()
	go func() { // ends with the process
		for range time.Tick(100 * time.Millisecond) {
			match()
		}
	}()
}
