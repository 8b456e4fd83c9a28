//go:build race

package extensions

const raceEnabled = true
