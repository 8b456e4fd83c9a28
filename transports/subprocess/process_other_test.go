//go:build !linux

package subprocess

const hasParentDeathSignal = false
