package tuitest

import (
	"runtime"
	"strings"
	"testing"
)

// Some matches never look at the clock, and then it would start in a bubble.
func TestKeepClock(t *testing.T) {
	KeepClock()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if !strings.Contains(string(stacks), "regexp2/v2.runClock") {
		t.Error("the clock does not run")
	}
}
