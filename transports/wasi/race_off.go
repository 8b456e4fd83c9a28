//go:build !race

package wasi

// memoryLimitBreaks says that this build cannot live with a limit on memory.
const memoryLimitBreaks = false
