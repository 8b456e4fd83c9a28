package wasi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// Bounds of the cache. A Go program compiles to 8 to 15 MiB.
const (
	cacheMost     = 512 << 20
	cacheAge      = 30 * 24 * time.Hour
	cacheTempAge  = time.Hour // of a compilation that was cut short
	cacheTempName = "tmp-"
	tookName      = "compiled-in" // holds the time that compiling took
)

// Variants of compiled code.
const (
	variantRunner = "r"
	variantInline = "i" // looks in every loop whether it shall stop
)

func variantOf(isolation Isolation) string {
	if isolation == Inline {
		return variantInline
	}
	return variantRunner
}

// A cache keeps compiled modules: a folder each, named after the module's
// digest, the engine's version and the variant, so that an upgrade or another
// processor finds nothing and compiles anew. What is in a folder is complete,
// since it is put in place by a rename, and it is code that will be executed:
// the whole is nobody's but the user's.
type cache struct{ dir string }

func cacheFor(o Options) cache { return cache{o.Cache} }

// Compiled is what the cache has of a module.
type Compiled struct {
	Size int64         // of the code, in bytes
	Took time.Duration // to compile it; 0 where that is not known
}

// InCache says what a cache folder has of a module, as the engine of this
// binary compiles it.
func InCache(dir string, module []byte, isolation Isolation) (Compiled, bool) {
	if _, err := Inspect(module); err != nil {
		return Compiled{}, false
	}
	entry := filepath.Join(dir, cacheKey(prepared(module, isolation), variantOf(isolation)))
	if _, err := os.Stat(entry); err != nil {
		return Compiled{}, false
	}
	text, _ := os.ReadFile(filepath.Join(entry, tookName))
	took, _ := time.ParseDuration(string(text))
	return Compiled{Size: sizeOf(entry), Took: took}, true
}

// compiling makes one compilation of many that are asked for at a time.
var compiling singleflight.Group

// get returns the folder with the compiled module, or "" where there is no
// cache to be had. A *[ModuleError] is passed on; for the rest, as a full disk,
// the module can be compiled every time.
func (c cache) get(ctx context.Context, module []byte, variant string, compile func(context.Context, string) error) (string, error) {
	if c.dir == "" {
		return "", nil
	}
	entry := filepath.Join(c.dir, cacheKey(module, variant))
	if c.has(entry) {
		return entry, nil
	}
	_, err, _ := compiling.Do(entry, func() (any, error) {
		if c.has(entry) {
			return nil, nil
		}
		return nil, c.fill(ctx, entry, compile)
	})
	var moduleErr *ModuleError
	switch {
	case err == nil:
		return entry, nil
	case errors.As(err, &moduleErr), ctx.Err() != nil, errors.Is(err, errUnsafeCache):
		return "", err
	}
	return "", nil
}

// has says whether the entry is there, and marks it as used.
func (c cache) has(entry string) bool {
	now := time.Now()
	return c.safe() == nil && os.Chtimes(entry, now, now) == nil
}

func cacheKey(module []byte, variant string) string {
	digest := sha256.Sum256(module)
	return hex.EncodeToString(digest[:]) + "-" + variant + "-" + engine.Version()
}

// fill compiles into a folder aside and moves it into place.
func (c cache) fill(ctx context.Context, entry string, compile func(context.Context, string) error) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := c.safe(); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(c.dir, cacheTempName)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	began := time.Now()
	if err := compile(ctx, temp); err != nil {
		return err
	}
	// What it took is for people to know; a folder without it is as good.
	took := time.Since(began).Round(time.Millisecond).String()
	_ = os.WriteFile(filepath.Join(temp, tookName), []byte(took), 0o600)
	if err := os.Rename(temp, entry); err != nil && !c.has(entry) { // or another was quicker
		return err
	}
	c.prune(entry)
	return nil
}

var errUnsafeCache = errors.New("compile cache")

// safe refuses a folder that others could have put code in.
func (c cache) safe() error {
	info, err := os.Lstat(c.dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || othersMayWrite(info) {
		return fmt.Errorf("%w %q: it must be a folder of this user that nobody else may write to (chmod 700 it, or remove it)", errUnsafeCache, c.dir)
	}
	return nil
}

func (c cache) remove(entry string) {
	if entry != "" && filepath.Dir(entry) == filepath.Clean(c.dir) {
		_ = os.RemoveAll(entry)
	}
}

// prune removes what has not been used for long, and the least recently used
// of what is too much, but not keep.
func (c cache) prune(keep string) {
	type entry struct {
		path string
		used time.Time
		size int64
	}
	var all []entry
	var total int64
	list, _ := os.ReadDir(c.dir)
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !e.IsDir() {
			continue
		}
		one := entry{filepath.Join(c.dir, e.Name()), info.ModTime(), 0}
		age := time.Since(one.used)
		if age > cacheAge || age > cacheTempAge && strings.HasPrefix(e.Name(), cacheTempName) {
			c.remove(one.path)
			continue
		}
		one.size = sizeOf(one.path)
		total += one.size
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b entry) int { return a.used.Compare(b.used) })
	for _, e := range all {
		if total <= cacheMost {
			return
		}
		if e.path != keep && !strings.HasPrefix(filepath.Base(e.path), cacheTempName) {
			c.remove(e.path)
			total -= e.size
		}
	}
}

func sizeOf(dir string) int64 {
	var size int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}
