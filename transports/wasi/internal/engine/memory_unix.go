//go:build unix

package engine

import "golang.org/x/sys/unix"

// A region is address space of which only what is touched costs memory.
type region struct{ mapped []byte }

func reserve(most uint64) region {
	if most == 0 {
		return region{}
	}
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | mapNoReserve
	mapped, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return region{} // the guest's memory then cannot grow, nor it start
	}
	return region{mapped}
}

func (r *region) resize(size uint64) []byte {
	if size == 0 {
		return []byte{}
	}
	if size > uint64(len(r.mapped)) {
		return nil
	}
	return r.mapped[:size:len(r.mapped)]
}

func (r *region) free() {
	if r.mapped != nil {
		_ = unix.Munmap(r.mapped)
		r.mapped = nil
	}
}
