//go:build !windows

package main

import (
	"os"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
)

// managedOfScenario makes the folder that a scenario names the administrator's,
// and the scenario's user the administrator. It is in the test binary alone: the
// program looks at no such variable.
func managedOfScenario() {
	if dir := os.Getenv("ZOT_TEST_MANAGED"); dir != "" {
		workspace.TestOnlyManaged(dir, config.CheckOwnedBy(os.Getuid()))
	}
}
