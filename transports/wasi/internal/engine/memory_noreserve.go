//go:build unix && !freebsd && !aix

package engine

import "golang.org/x/sys/unix"

// mapNoReserve has a mapping count for nothing until it is touched.
const mapNoReserve = unix.MAP_NORESERVE
