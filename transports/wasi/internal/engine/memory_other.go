//go:build !unix

package engine

// A region is ordinary memory, which grows by copying.
type region struct{ buf []byte }

func reserve(uint64) region { return region{} }

func (r *region) resize(size uint64) []byte {
	if size > uint64(cap(r.buf)) {
		grown := make([]byte, size)
		copy(grown, r.buf)
		r.buf = grown
	}
	r.buf = r.buf[:size]
	return r.buf
}

func (r *region) free() { r.buf = nil }
