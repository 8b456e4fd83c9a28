//go:build race

package wasi

// raceEnabled says that this build has the race detector, which maps many
// times the memory that it uses and cannot live with a limit on it.
const raceEnabled = true
