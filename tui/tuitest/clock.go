package tuitest

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// KeepClock keeps the clock of the regular expressions that colour code running
// outside of any synctest bubble. It is one goroutine for the whole process that
// starts with the first match and ends when idle; started inside a bubble it
// would belong to that bubble and its time. A TestMain calls it before the tests
// run and never has to end it.
func KeepClock() {
	re := regexp2.MustCompile("x")
	re.MatchTimeout = time.Hour // with a limit there is a clock
	match := func() { _, _ = re.MatchString("x") }
	match()
	go func() { // ends with the process
		for range time.Tick(100 * time.Millisecond) {
			match()
		}
	}()
}
