package engine

import (
	"io/fs"
	"os"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

// Names of limits, as settings spell them.
const (
	LimitDataDir   = "dataDir"
	LimitOpenFiles = "openFiles"
	LimitMemory    = "memory"
	LimitCPU       = "cpuPerCall"
)

// block is the unit in which a folder is filled: files and folders take one
// more than they are full of, as they do on a disk, so that a million empty
// files are not free.
const block = 4 << 10

func blocks(size int64) int64 { return (max(size, 0)+block-1)/block + 1 }

// A quota bounds what a folder holds, for the time of one guest. The count is
// never too low by what the guest does: it grows with every write, and only a
// count anew lowers it.
type quota struct {
	root *os.Root
	most int64 // blocks
	used int64
	note *refusals
}

func newQuota(root *os.Root, most int64, note *refusals) *quota {
	if most <= 0 {
		return nil
	}
	q := &quota{root: root, most: (most + block - 1) / block, note: note}
	q.used = q.count()
	return q
}

// count walks the folder. The folder itself is free.
func (q *quota) count() (used int64) {
	_ = fs.WalkDir(q.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return nil
		}
		size := int64(0)
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
		used += blocks(size)
		return nil
	})
	return used
}

// take asks for so many blocks more.
func (q *quota) take(n int64) experimental.Errno {
	if q == nil || n <= 0 {
		return 0
	}
	if q.used+n > q.most {
		q.used = q.count() // something may have been removed
	}
	if q.used+n > q.most {
		return q.note.limit(LimitDataDir, errNospc)
	}
	q.used += n
	return 0
}

// grow asks for room for a file to become that long.
func (q *quota) grow(f *os.File, end int64) experimental.Errno {
	if q == nil {
		return 0
	}
	info, err := f.Stat()
	if err != nil {
		return errnoOf(err)
	}
	return q.take(blocks(end) - blocks(info.Size()))
}

// openFiles bounds how many files a guest has open, over all mounts.
type openFiles struct {
	most, open int // most of 0 is no bound
	note       *refusals
}

func (o *openFiles) take() experimental.Errno {
	if o.most > 0 && o.open >= o.most {
		return o.note.limit(LimitOpenFiles, errMfile)
	}
	o.open++
	return 0
}

func (o *openFiles) giveBack() { o.open-- }
