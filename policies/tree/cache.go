package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/patriceckhart/zot/config/home"
)

// A Cache remembers the hashes of files by their size, times and number on the
// file system, so that what has not changed is not read again. It is a
// convenience and no proof: whoever can set a file's times can fool it, so what
// must be certain is hashed without one. A nil Cache remembers nothing. It may
// be used by several goroutines.
type Cache struct {
	mu      sync.Mutex
	entries map[string]cacheEntry
	dirty   bool
}

type cacheEntry struct {
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // nanoseconds
	CTime int64  `json:"ctime,omitempty"`
	Inode uint64 `json:"inode,omitempty"`
	Sum   string `json:"sha256"`
}

const cacheFile = "digests.json"

// OpenCache reads the cache kept in h; one that is not there or not readable is
// an empty one.
func OpenCache(h home.Home) *Cache {
	c := &Cache{entries: map[string]cacheEntry{}}
	if data, err := os.ReadFile(filepath.Join(h.CacheDir(), cacheFile)); err == nil {
		if json.Unmarshal(data, &c.entries) != nil {
			c.entries = map[string]cacheEntry{}
		}
	}
	return c
}

// Save writes the cache where it has changed. Entries of other instances that
// were saved meanwhile may be lost, which costs hashing them again.
func (c *Cache) Save(h home.Home) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty {
		return nil
	}
	if len(c.entries) > 4*MaxFiles { // of folders long gone, for the most part
		clear(c.entries)
	}
	data, err := json.Marshal(c.entries)
	if err != nil {
		return err
	}
	c.dirty = false
	return home.WriteFile(filepath.Join(h.CacheDir(), cacheFile), data, home.FileMode)
}

// settled is how old a file must be for its times to say anything: two changes
// within the clock's step look like one.
const settled = 2 * time.Second

func (c *Cache) get(dir, p string, info fs.FileInfo) (sum [sha256.Size]byte, ok bool) {
	if c == nil {
		return sum, false
	}
	c.mu.Lock()
	e, ok := c.entries[filepath.Join(dir, p)]
	c.mu.Unlock()
	ctime, inode := identity(info)
	if !ok || e.Size != info.Size() || e.MTime != info.ModTime().UnixNano() || e.CTime != ctime || e.Inode != inode {
		return sum, false
	}
	n, err := hex.Decode(sum[:], []byte(e.Sum))
	return sum, err == nil && n == len(sum)
}

func (c *Cache) put(dir, p string, info fs.FileInfo, sum [sha256.Size]byte) {
	if c == nil || time.Since(info.ModTime()) < settled {
		return
	}
	ctime, inode := identity(info)
	e := cacheEntry{info.Size(), info.ModTime().UnixNano(), ctime, inode, hex.EncodeToString(sum[:])}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := filepath.Join(dir, p)
	if c.entries[key] != e {
		c.entries[key], c.dirty = e, true
	}
}
