//go:build freebsd || aix

package engine

// mapNoReserve is not needed where no mapping counts before it is touched.
const mapNoReserve = 0
