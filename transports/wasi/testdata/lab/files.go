package main

import (
	"runtime"
	"unsafe"
)

// The calls are made as they are, since the standard library cleans paths and
// knows better which flags go together.

//go:wasmimport wasi_snapshot_preview1 path_open
func pathOpen(dir int32, lookup uint32, path unsafe.Pointer, n uint32, oflags uint32, rights, inherit uint64, fdflags uint32, fd unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_read
func fdRead(fd int32, iovs unsafe.Pointer, n uint32, got unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_write
func fdWrite(fd int32, iovs unsafe.Pointer, n uint32, put unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_close
func fdClose(fd int32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_readdir
func fdReaddir(fd int32, buf unsafe.Pointer, n uint32, cookie uint64, got unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_get
func pathStat(dir int32, lookup uint32, path unsafe.Pointer, n uint32, buf unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_set_times
func pathTimes(dir int32, lookup uint32, path unsafe.Pointer, n uint32, atim, mtim uint64, flags uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_readlink
func pathReadlink(dir int32, path unsafe.Pointer, n uint32, buf unsafe.Pointer, size uint32, got unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 path_create_directory
func pathMkdir(dir int32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_remove_directory
func pathRmdir(dir int32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_unlink_file
func pathUnlink(dir int32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_rename
func pathRename(dir int32, path unsafe.Pointer, n uint32, dir2 int32, path2 unsafe.Pointer, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_link
func pathLink(dir int32, lookup uint32, path unsafe.Pointer, n uint32, dir2 int32, path2 unsafe.Pointer, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_symlink
func pathSymlink(target unsafe.Pointer, n uint32, dir int32, path unsafe.Pointer, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_filestat_set_size
func fdSetSize(fd int32, size uint64) uint32

//go:wasmimport wasi_snapshot_preview1 fd_filestat_set_times
func fdSetTimes(fd int32, atim, mtim uint64, flags uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_allocate
func fdAllocate(fd int32, offset, n uint64) uint32

//go:wasmimport wasi_snapshot_preview1 fd_fdstat_set_flags
func fdSetFlags(fd int32, flags uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_pwrite
func fdPwrite(fd int32, iovs unsafe.Pointer, n uint32, offset uint64, put unsafe.Pointer) uint32

const mount = 3 // the first descriptor that is not a stream

func str(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s)), uint32(len(s))
}

func closeFd(fd int32) uint32 { return fdClose(fd) }

type iovec struct {
	at uint32
	n  uint32
}

func files(r request) response {
	a := response{ID: r.ID}
	p, n := str(r.Path)
	q, m := str(r.To)
	from, into := mount+r.Dir, mount+r.Dir2
	lookup := uint32(0)
	if r.Follow {
		lookup = 1
	}
	var stat [64]byte
	switch r.Op {
	case "open":
		return open(r, lookup)
	case "stat":
		a.Errno = pathStat(from, lookup, p, n, unsafe.Pointer(&stat))
	case "stats": // many, without ever waiting
		for range r.N {
			a.Errno = pathStat(from, lookup, p, n, unsafe.Pointer(&stat))
		}
	case "times":
		a.Errno = pathTimes(from, lookup, p, n, 0, 1_000_000_000, 1|4)
	case "readlink":
		buf := make([]byte, 4096)
		var got uint32
		a.Errno = pathReadlink(from, p, n, unsafe.Pointer(&buf[0]), uint32(len(buf)), unsafe.Pointer(&got))
		a.Text = string(buf[:got])
	case "mkdir":
		a.Errno = pathMkdir(from, p, n)
	case "rmdir":
		a.Errno = pathRmdir(from, p, n)
	case "unlink":
		a.Errno = pathUnlink(from, p, n)
	case "rename":
		a.Errno = pathRename(from, p, n, into, q, m)
	case "link":
		a.Errno = pathLink(from, lookup, p, n, into, q, m)
	case "symlink": // To is the text of the link
		a.Errno = pathSymlink(q, m, from, p, n)
	default:
		panic("no operation " + r.Op)
	}
	runtime.KeepAlive(r)
	return a
}

// inside opens the folder that To names, for a path that begins there.
func inside(r request) int32 {
	if r.To == "" {
		return mount + r.Dir
	}
	var fd int32
	p, n := str(r.To)
	if pathOpen(mount+r.Dir, 0, p, n, 2, 1<<1|1<<13, ^uint64(0), 0, unsafe.Pointer(&fd)) != 0 {
		panic("no folder " + r.To)
	}
	return fd
}

// open opens the file, writes Text to it where there is one, or else reads
// what is there; of a folder it reads the names.
func open(r request, lookup uint32) response {
	a := response{ID: r.ID}
	var fd int32
	p, n := str(r.Path)
	a.Errno = pathOpen(inside(r), lookup, p, n, uint32(r.Oflags), r.Rights, 0, uint32(r.Fdflags), unsafe.Pointer(&fd))
	if a.Errno != 0 {
		return a
	}
	defer fdClose(fd)
	if r.Then != "" {
		a.Errno = change(fd, r.Then)
		return a
	}
	buf := make([]byte, 4096)
	var moved uint32
	if r.Text != "" {
		copy(buf, r.Text)
		vec := iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), uint32(len(r.Text))}
		a.Errno = fdWrite(fd, unsafe.Pointer(&vec), 1, unsafe.Pointer(&moved))
		runtime.KeepAlive(buf)
		return a
	}
	if r.Oflags&2 != 0 {
		a.Errno = fdReaddir(fd, unsafe.Pointer(&buf[0]), uint32(len(buf)), 0, unsafe.Pointer(&moved))
		a.Text = string(buf[:moved])
		return a
	}
	vec := iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), uint32(len(buf))}
	a.Errno = fdRead(fd, unsafe.Pointer(&vec), 1, unsafe.Pointer(&moved))
	a.Text = string(buf[:moved])
	return a
}

// change does something to a file that is open.
func change(fd int32, how string) uint32 {
	text := []byte("overwritten")
	vec := iovec{uint32(uintptr(unsafe.Pointer(&text[0]))), uint32(len(text))}
	var moved uint32
	defer runtime.KeepAlive(text)
	switch how {
	case "write":
		return fdWrite(fd, unsafe.Pointer(&vec), 1, unsafe.Pointer(&moved))
	case "pwrite":
		return fdPwrite(fd, unsafe.Pointer(&vec), 1, 3, unsafe.Pointer(&moved))
	case "append":
		if errno := fdSetFlags(fd, 1); errno != 0 {
			return errno
		}
		return fdWrite(fd, unsafe.Pointer(&vec), 1, unsafe.Pointer(&moved))
	case "cut":
		return fdSetSize(fd, 0)
	case "lengthen":
		return fdSetSize(fd, 1<<20)
	case "allocate":
		return fdAllocate(fd, 0, 1<<20)
	case "times":
		return fdSetTimes(fd, 0, 1_000_000_000, 1|4)
	}
	panic("no change " + how)
}
