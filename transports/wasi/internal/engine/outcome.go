package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// An Outcome says how a guest ended.
type Outcome struct {
	Code int // its exit status
	// Reason says what else there is to know: a trap, the limit that was
	// reached, that it was interrupted; or it is empty.
	Reason      string
	Limit       string // the limit that Reason is about, as settings spell it
	Interrupted bool   // ctx ended it
}

const (
	codeTrap      = 134 // what a process that aborts leaves in a shell
	codeInterrupt = 0xff
)

func outcomeOf(ctx context.Context, err error, atMemoryLimit string) Outcome {
	limit := ""
	if atMemoryLimit != "" {
		limit = LimitMemory
	}
	var exit *sys.ExitError
	switch {
	case err == nil:
		return Outcome{}
	case ctx.Err() != nil:
		return Outcome{Code: codeInterrupt, Reason: "interrupted", Interrupted: true}
	case !errors.As(err, &exit):
		return Outcome{Code: codeTrap, Reason: trap(err, atMemoryLimit), Limit: limit}
	case exit.ExitCode() == 0:
		return Outcome{}
	}
	return Outcome{Code: int(exit.ExitCode()), Reason: atMemoryLimit, Limit: limit}
}

// trap puts the engine's message in a line; the trace that follows it names
// functions of the guest, which its author finds on standard error.
func trap(err error, atMemoryLimit string) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "failed: "); ok {
		text = after
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "wasm error: "), "\n")
	text = "trap: " + text
	if atMemoryLimit != "" {
		text += ", " + atMemoryLimit
	}
	return text
}

func memoryLimitReason(pages uint32) string {
	return fmt.Sprintf("the memory limit of %d MiB (limits.%s) was reached", uint64(pages)*PageSize>>20, LimitMemory)
}
