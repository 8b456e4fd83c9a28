//go:build race

package wasi

// memoryLimitBreaks is true for the race detector, which maps many times the
// memory that it uses.
const memoryLimitBreaks = true
