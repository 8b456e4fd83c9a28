package paths

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/home"
)

// A Place is one name in a folder that is held open: what happens to the path
// that led there no longer matters. It is not safe for concurrent use. Close
// it.
type Place struct {
	root *os.Root // the folder
	real string   // the whole path, for messages
	base string
	made []string // folders created on the way, outermost first; absolute
	kept bool     // something was put here: the folders stay
}

// Hold pins the folder of p, which has to exist. The error is [ErrMoved] where
// the folder is no longer the one that p was resolved to.
func Hold(p Path) (*Place, error) { return holdFresh(p, false) }

// HoldMaking is [Hold], creating the folders that are missing. They go again
// at Close if nothing was put into them.
func HoldMaking(p Path) (*Place, error) { return holdFresh(p, true) }

func holdFresh(p Path, makeDirs bool) (*Place, error) {
	base, err := os.OpenRoot(p.anchor)
	if err != nil {
		return nil, plain("opening", p.anchor, err)
	}
	defer base.Close()
	return hold(base, p.anchor, p, makeDirs)
}

// hold pins the folder of p below base, which is the folder baseDir.
func hold(base *os.Root, baseDir string, p Path, makeDirs bool) (*Place, error) {
	dir, name := filepath.Dir(p.Real), filepath.Base(p.Real)
	if dir == p.Real || p.Real == baseDir { // the root of a volume or of a jail
		dir, name = p.Real, "."
	}
	pl := &Place{real: p.Real, base: name}
	rel, err := filepath.Rel(baseDir, dir)
	if err != nil {
		return nil, plain("opening", dir, err)
	}
	if makeDirs {
		if err := pl.mkdirs(base, baseDir, rel); err != nil {
			pl.sweep()
			return nil, err
		}
	}
	if pl.root, err = base.OpenRoot(rel); err != nil {
		pl.sweep()
		return nil, plain("opening", dir, err)
	}
	if err := unmoved(pl.root, dir); err != nil {
		pl.Close()
		return nil, err
	}
	return pl, nil
}

// mkdirs creates what is missing of rel below base and remembers what it made.
func (pl *Place) mkdirs(base *os.Root, baseDir, rel string) error {
	at := ""
	for _, name := range split(rel) {
		at = filepath.Join(at, name)
		err := base.Mkdir(at, 0o777) // the umask takes from it
		if err == nil {
			pl.made = append(pl.made, filepath.Join(baseDir, at))
		} else if !errors.Is(err, fs.ErrExist) {
			return plain("creating folder", filepath.Join(baseDir, at), err)
		}
	}
	return nil
}

// unmoved checks that the folder held by root is what stands at dir, with no
// link on the way.
func unmoved(root *os.Root, dir string) error {
	moved := &fs.PathError{Op: "opening", Path: dir, Err: ErrMoved}
	held, err := root.Stat(".")
	if err != nil {
		return plain("opening", dir, err)
	}
	now, err := walk(dir, false)
	if err != nil || now.Real != dir || !now.Exists || !os.SameFile(held, now.Info) {
		return moved
	}
	return nil
}

// Close lets go of the folder.
func (pl *Place) Close() error {
	err := pl.root.Close()
	if !pl.kept {
		pl.sweep()
	}
	return err
}

// sweep removes the folders that were made for nothing; one that has got an
// entry meanwhile stays.
func (pl *Place) sweep() {
	for i := len(pl.made) - 1; i >= 0; i-- {
		if os.Remove(pl.made[i]) != nil {
			return
		}
	}
	pl.made = nil
}

// Lstat says what is at the place; a link shows as one.
func (pl *Place) Lstat() (fs.FileInfo, error) {
	info, err := pl.root.Lstat(pl.base)
	if err != nil {
		return nil, plain("reading", pl.real, err)
	}
	return info, nil
}

// Open opens the file or folder for reading, and only if it is no link and no
// pipe, device or socket, which could block or act.
func (pl *Place) Open() (*os.File, fs.FileInfo, error) {
	info, err := pl.Lstat()
	if err != nil {
		return nil, nil, err
	}
	if err := ordinary(pl.real, info); err != nil {
		return nil, nil, err
	}
	f, err := pl.root.OpenFile(pl.base, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, plain("reading", pl.real, err)
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(opened, info) {
		f.Close()
		return nil, nil, &fs.PathError{Op: "reading", Path: pl.real, Err: ErrMoved}
	}
	return f, opened, nil
}

func ordinary(real string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "opening", Path: real, Err: ErrMoved}
	}
	return &fs.PathError{Op: "opening", Path: real, Err: fmt.Errorf("it is a %s and not a file", Kind(info.Mode()))}
}

// Kind names the type of a file in words: "folder", "named pipe".
func Kind(mode fs.FileMode) string { return home.Kind(mode) }

// Replace puts data at the place in one step: whoever reads the path sees the
// old bytes or the new ones. It writes a temporary file in the same folder,
// syncs and renames it. A file that is there keeps its permissions, and its
// owner where we may set it; one that may not be written to is an error even
// if its folder would allow the rename. Just before the rename it asks ready,
// if not nil, whose error stops everything. After an error the place is as it
// was and no temporary file is left.
func (pl *Place) Replace(data []byte, ready func() error) error {
	old, err := pl.root.Lstat(pl.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return plain("writing", pl.real, err)
	case old.IsDir():
		return &fs.PathError{Op: "writing", Path: pl.real, Err: errors.New("it is a folder")}
	default:
		if err := pl.writable(old); err != nil {
			return err
		}
	}
	temp, err := pl.writeTemp(data, old)
	if err == nil && ready != nil {
		err = ready()
	}
	if err == nil {
		err = pl.root.Rename(temp, pl.base)
	}
	if err != nil {
		if temp != "" {
			_ = pl.root.Remove(temp)
		}
		return plain("writing", pl.real, err)
	}
	pl.kept = true
	pl.syncFolder()
	return nil
}

// writable asks the system whether the file itself may be written.
func (pl *Place) writable(old fs.FileInfo) error {
	if err := ordinary(pl.real, old); err != nil {
		return err
	}
	f, err := pl.root.OpenFile(pl.base, os.O_WRONLY|openNonblock, 0)
	if err != nil && !isBusyProgram(err) { // a running program can be replaced, not written
		return plain("writing", pl.real, err)
	}
	if err == nil {
		f.Close()
	}
	return nil
}

// writeTemp writes and syncs a temporary file beside the place. The name is
// set with an error too if the file exists.
func (pl *Place) writeTemp(data []byte, old fs.FileInfo) (name string, err error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600
	}
	name = ".zot-" + strings.ToLower(rand.Text()) + ".tmp"
	f, err := pl.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = f.Write(data); err != nil {
		return name, err
	}
	if old != nil {
		keepOwner(f, old) // before the mode, which a change of owner may reset
		if err = f.Chmod(old.Mode().Perm()); err != nil {
			return name, err
		}
	}
	return name, f.Sync()
}

// syncFolder makes the rename last; not every system can, and the content is
// safe already.
func (pl *Place) syncFolder() {
	if d, err := pl.root.Open("."); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// plain gives an error the whole path and nothing of the mechanics: an os.Root
// speaks of openat and of the last name alone.
func plain(op, path string, err error) error {
	cause := err
	for {
		var pe *fs.PathError
		var le *os.LinkError
		switch {
		case errors.As(cause, &pe):
			cause = pe.Err
			continue
		case errors.As(cause, &le):
			cause = le.Err
			continue
		}
		break
	}
	return &fs.PathError{Op: op, Path: path, Err: cause}
}
