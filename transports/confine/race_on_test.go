//go:build race

package confine

const raceEnabled = true
