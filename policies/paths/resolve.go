package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxLinks is how many links one path may go through; Linux has the same bound.
const maxLinks = 40

// A Resolver says what relative paths and "~" are relative to.
type Resolver struct {
	CWD  string // absolute; what a relative path starts from
	Home string // what "~" stands for; empty refuses "~/"
}

// Resolve finds the real path that given stands for.
//
// The exact spelling wins where it names something. Otherwise these are tried,
// in this order: without white space around it, without a leading "@", and
// then the same again with names compared loosely (composed and decomposed
// accents, kinds of spaces and quotes), where just one entry of the folder
// fits. A path that names nothing in any spelling is where a file would be
// created: without the white space around it. It is an error if given is
// empty, goes through a file as if it were a folder, runs in circles, or
// passes a folder that may not be looked at.
func (r Resolver) Resolve(given string) (Path, error) {
	spellings, fresh, err := r.spellings(given)
	if err != nil {
		return Path{}, fmt.Errorf("path %q: %w", given, err)
	}
	var last error
	for _, loose := range []bool{false, true} {
		for _, s := range spellings {
			p, err := walk(s, loose)
			if err == nil && p.Exists {
				return finish(p, given), nil
			}
			if err != nil && last == nil {
				last = err
			}
		}
	}
	if last != nil {
		return Path{}, fmt.Errorf("path %q: %w", given, last)
	}
	p, err := walk(fresh, true)
	if err != nil {
		return Path{}, fmt.Errorf("path %q: %w", given, err)
	}
	return finish(p, given), nil
}

func finish(p Path, given string) Path {
	p.Given = given
	trimmed := strings.TrimSpace(given)
	p.Folder = trimmed != "" && os.IsPathSeparator(trimmed[len(trimmed)-1])
	return p
}

// A walker follows a path name by name, as the kernel would, so that "..
// after a link" means the folder above the link's target.
type walker struct {
	loose   bool
	cur     string      // real; exists
	info    fs.FileInfo // of cur
	missing []string    // names below cur that do not exist
	rest    []string    // names still to go
	links   int
}

// walk resolves an absolute path.
func walk(abs string, loose bool) (Path, error) {
	w := walker{loose: loose}
	if err := w.restart(abs); err != nil {
		return Path{}, err
	}
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.step(name); err != nil {
			return Path{}, err
		}
	}
	if len(w.missing) > 0 && !w.info.IsDir() {
		return Path{}, &fs.PathError{Op: "resolving", Path: w.cur, Err: syscall.ENOTDIR}
	}
	p := Path{Real: filepath.Join(append([]string{w.cur}, w.missing...)...)}
	if len(w.missing) == 0 {
		p.Exists, p.Info = true, w.info
	}
	p.anchor = w.cur
	if p.Exists && p.Real != filepath.Dir(p.Real) {
		p.anchor = filepath.Dir(p.Real)
	}
	return p, nil
}

// restart puts the walker at the root of abs.
func (w *walker) restart(abs string) error {
	vol := filepath.VolumeName(abs)
	w.cur = strings.ToUpper(vol) + string(filepath.Separator)
	w.missing = nil
	info, err := os.Lstat(w.cur)
	if err != nil {
		return err
	}
	w.info = info
	w.rest = append(split(abs[len(vol):]), w.rest...)
	return nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// step takes one name.
func (w *walker) step(name string) error {
	switch {
	case name == ".":
		return nil
	case name == "..":
		return w.up()
	case len(w.missing) > 0:
		w.missing = append(w.missing, name)
		return nil
	case runtime.GOOS == "windows" && (!filepath.IsLocal(name) || strings.Contains(name, ":")):
		return fmt.Errorf("%q is not a file name on this system", name)
	case !w.info.IsDir():
		return &fs.PathError{Op: "resolving", Path: w.cur, Err: syscall.ENOTDIR}
	}
	next := filepath.Join(w.cur, name)
	info, err := os.Lstat(next)
	if errors.Is(err, fs.ErrNotExist) && w.loose {
		if entry := looseEntry(w.cur, name); entry != "" {
			name, next = entry, filepath.Join(w.cur, entry)
			info, err = os.Lstat(next)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		w.missing = append(w.missing, name)
		return nil
	}
	if err != nil {
		return err
	}
	if target, ok := linkTarget(next, info); ok {
		return w.follow(target)
	}
	w.cur, w.info = filepath.Join(w.cur, onDisk(w.cur, name, info)), info
	return nil
}

func (w *walker) up() error {
	if n := len(w.missing); n > 0 {
		w.missing = w.missing[:n-1]
		return nil
	}
	if !w.info.IsDir() {
		return &fs.PathError{Op: "resolving", Path: w.cur, Err: syscall.ENOTDIR}
	}
	w.cur = filepath.Dir(w.cur)
	info, err := os.Lstat(w.cur)
	w.info = info
	return err
}

func (w *walker) follow(target string) error {
	if w.links++; w.links > maxLinks {
		return ErrLoop
	}
	if filepath.IsAbs(target) {
		return w.restart(target)
	}
	w.rest = append(split(target), w.rest...)
	return nil
}

// linkTarget reads a link. Windows reports a junction as irregular.
func linkTarget(path string, info fs.FileInfo) (string, bool) {
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return "", false
	}
	target, err := os.Readlink(path)
	return target, err == nil
}
