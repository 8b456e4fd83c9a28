//go:build race

package extension_test

const raceEnabled = true
