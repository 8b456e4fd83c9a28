package runcmd

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/runtime/event"
)

// Whatever extensions still have to say, the error of a prompt and its end come
// one after the other, and last.
func TestDoneIsTheLastLine(t *testing.T) {
	const end = "{\"type\":\"error\",\"message\":\"no such command\"}\n{\"type\":\"done\"}\n"
	for range 2000 {
		var out bytes.Buffer
		j := &jsonWriter{w: &out}
		var others sync.WaitGroup
		for range 4 {
			others.Go(func() { j.prompt(event.ExtState{Loading: 0, Total: 1}) })
		}
		if err := j.finish(errors.New("no such command")); err == nil {
			t.Fatal("an error is no success")
		}
		others.Wait()
		if !strings.HasSuffix(out.String(), end) {
			t.Fatalf("it ends otherwise:\n%s", out.String())
		}
	}
}
