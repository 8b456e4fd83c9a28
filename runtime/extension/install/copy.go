package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of one extension.
const (
	MaxFiles = 20_000
	MaxBytes = 256 << 20
)

// A Skip is something in a source that was not copied.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A File is something that an extension brought: a regular file, or a link
// that stays inside the folder.
type File struct {
	Path   string `json:"path"` // with slashes
	Size   int64  `json:"size,omitempty"`
	Exec   bool   `json:"exec,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of a regular file, in hexadecimal
	Link   string `json:"link,omitempty"`   // target of a link
}

// A copier copies a tree that a stranger made. Neither side is ever left: both
// are opened as roots.
type copier struct {
	ctx      context.Context
	from, to *os.Root
	maxFiles int
	maxBytes int64

	files   []File
	skipped []Skip
	bytes   int64
	seen    map[string]string // folded path -> path, to find twins
}

// copyTree copies from to to, which exists and is empty.
func copyTree(ctx context.Context, from, to string) (*copier, error) {
	c := &copier{ctx: ctx, maxFiles: MaxFiles, maxBytes: MaxBytes, seen: map[string]string{}}
	var err error
	if c.from, err = os.OpenRoot(from); err != nil {
		return nil, err
	}
	defer c.from.Close()
	if c.to, err = os.OpenRoot(to); err != nil {
		return nil, err
	}
	defer c.to.Close()
	return c, c.copy()
}

func (c *copier) copy() error {
	return fs.WalkDir(c.from.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("copying %s: %w", name, err)
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		return c.entry(name, entry)
	})
}

// fold is the same for two names that some file system takes for one.
var folder = cases.Fold()

func fold(name string) string { return folder.String(norm.NFC.String(name)) }

func (c *copier) entry(name string, entry fs.DirEntry) error {
	if strings.EqualFold(entry.Name(), ".git") {
		c.skip(name, "git's own data")
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if twin, ok := c.seen[fold(name)]; ok {
		return fmt.Errorf("%q and %q differ only in case or accents, and are one file on many systems; rename one of them", twin, name)
	}
	c.seen[fold(name)] = name
	info, err := entry.Info()
	if err != nil {
		return fmt.Errorf("copying %s: %w", name, err)
	}
	if err := step("copy " + name); err != nil {
		return err
	}
	switch {
	case info.IsDir():
		err = c.dir(name, info)
	case info.Mode().IsRegular():
		err = c.file(name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		err = c.link(name)
	default:
		c.skip(name, special(info.Mode()))
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", name, err)
	}
	return nil
}

func (c *copier) skip(name, reason string) {
	c.skipped = append(c.skipped, Skip{name, reason})
}

func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// dir makes a folder that its owner can always work in.
func (c *copier) dir(name string, info fs.FileInfo) error {
	if err := c.to.Mkdir(name, 0o700); err != nil {
		return err
	}
	return c.to.Chmod(name, info.Mode().Perm()|0o700)
}

// count is asked before a file or link is made.
func (c *copier) count() error {
	if len(c.files) >= c.maxFiles {
		return fmt.Errorf("the extension has more than %d files; install a folder that holds only what it needs", c.maxFiles)
	}
	return nil
}

func (c *copier) file(name string, info fs.FileInfo) error {
	if err := c.count(); err != nil {
		return err
	}
	in, err := c.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	perm := info.Mode().Perm()
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, c.maxBytes-c.bytes+1))
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if c.bytes += n; c.bytes > c.maxBytes {
		return fmt.Errorf("the extension is larger than %d MiB; install a folder that holds only what it needs", c.maxBytes>>20)
	}
	c.files = append(c.files, File{Path: name, Size: n, Exec: perm&0o111 != 0, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return c.to.Chmod(name, perm)
}

// link copies a link whose target is inside the tree, and only such a one. The
// root refuses to follow a chain of links out of it.
func (c *copier) link(name string) error {
	target, err := c.from.Readlink(name)
	if err != nil {
		return err
	}
	slashed := strings.ReplaceAll(target, `\`, "/")
	inside := path.Join(path.Dir(name), slashed)
	if path.IsAbs(slashed) || strings.Contains(slashed, ":") || inside == ".." || strings.HasPrefix(inside, "../") {
		c.skip(name, "a link out of the folder, to "+target)
		return nil
	}
	if _, err := c.from.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.skip(name, "a link out of the folder, by way of "+target)
		return nil
	}
	if err := c.count(); err != nil {
		return err
	}
	if err := c.to.Symlink(target, name); err != nil {
		c.skip(name, "a link, which could not be made: "+err.Error())
		return nil
	}
	c.files = append(c.files, File{Path: name, Link: target})
	return nil
}
