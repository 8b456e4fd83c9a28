// Package exit holds the exit codes of zot and the errors that carry them.
package exit

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// The exit codes; those of policy decisions lie between 20 and 27.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Interrupted = 130
)

// An Error ends the program with a code of its own.
type Error struct {
	Code int
	Err  error
	// Silent says that the user has been told already.
	Silent bool
}

func (e *Error) Error() string {
	if e.Err == nil {
		return "failed"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A UsageError says that the words of the command are off.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// CodeOf returns the code that an error stands for.
func CodeOf(err error) int {
	var coded *Error
	var usage *UsageError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &usage):
		return Usage
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}

// A SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return e.Signal.String() }

// ByInterrupt reports whether the user pressed Ctrl-C (SIGINT), and so waits to
// get his shell back.
func ByInterrupt(ctx context.Context) bool {
	var caught *SignalError
	return errors.As(context.Cause(ctx), &caught) && caught.Signal == os.Interrupt
}

// ForSignal returns the code of a program that a signal ended: 128 and its
// number.
func ForSignal(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return Interrupted
}
