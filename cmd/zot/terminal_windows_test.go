package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// terminalCmd fails: a scenario that uses it begins with a condition.
func terminalCmd(*testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Fatalf("there is no pseudo terminal here; begin the scenario with: [!unix] skip")
	}
}
