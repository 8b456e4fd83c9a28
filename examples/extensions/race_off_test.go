//go:build !race

package extensions

// raceEnabled tells tests that the race detector makes compiling modules slow.
const raceEnabled = false
