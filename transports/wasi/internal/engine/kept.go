package engine

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

// kept are folders inside a mount that the guest has less of than of the rest.
// Names are judged after their links were followed, and without regard to case:
// a guest makes no links, so what a name leads to stays as it was found.
type kept struct {
	closed   []string // out of reach altogether
	fixed    []string // cannot be changed
	anywhere []string // names that are fixed at whatever depth
}

// atAnyDepth begins a name that is fixed wherever it stands.
const atAnyDepth = "**/"

func newKept(closed, fixed []string) kept {
	clean := func(list []string) []string {
		var out []string
		for _, p := range list {
			out = append(out, fold(path.Clean(p)))
		}
		return out
	}
	k := kept{closed: clean(closed)}
	for _, p := range clean(fixed) {
		if name, ok := strings.CutPrefix(p, atAnyDepth); ok {
			k.anywhere = append(k.anywhere, name)
		} else {
			k.fixed = append(k.fixed, p)
		}
	}
	return k
}

func fold(name string) string { return strings.ToLower(name) }

// look judges a name that is only looked at, and change one that would be
// changed, which nothing can be in a read-only mount. With follow the last
// element's own link counts.
func (r *rootFS) look(name string, follow bool) experimental.Errno {
	if len(r.kept.closed) == 0 {
		return 0
	}
	if inside(r.real(name, follow), r.kept.closed) {
		return experimental.EPERM
	}
	return 0
}

func (r *rootFS) change(name string, follow bool) experimental.Errno {
	if r.readOnly {
		return experimental.EROFS
	}
	if r.kept.nothing() {
		return 0
	}
	return r.kept.change(r.real(name, follow))
}

// move judges a name that would go away, or come: with a folder goes what is
// in it.
func (r *rootFS) move(name string) experimental.Errno {
	if r.readOnly {
		return experimental.EROFS
	}
	if r.kept.nothing() {
		return 0
	}
	real := r.real(name, false)
	if errno := r.kept.change(real); errno != 0 {
		return errno
	}
	if r.kept.below(real) || r.kept.begins(real) {
		return experimental.EROFS
	}
	return 0
}

func (k kept) nothing() bool { return len(k.closed)+len(k.fixed)+len(k.anywhere) == 0 }

// change judges what a name leads to.
func (k kept) change(real string) experimental.Errno {
	switch {
	case inside(real, k.closed):
		return experimental.EPERM
	case inside(real, k.fixed), k.named(real):
		return experimental.EROFS
	}
	return 0
}

// named reports whether a name is, or is in, one that is fixed at any depth.
func (k kept) named(real string) bool {
	return slices.ContainsFunc(k.anywhere, func(name string) bool { return strings.Contains("/"+real+"/", "/"+name+"/") })
}

// begins reports whether a folder that were moved to a name could hold the rest
// of one that is fixed at any depth.
func (k kept) begins(real string) bool {
	return slices.ContainsFunc(k.anywhere, func(name string) bool {
		first, _, more := strings.Cut(name, "/")
		return more && path.Base(real) == first
	})
}

// below reports whether a name is one of the folders, or one of them is in it.
func (k kept) below(real string) bool {
	isIn := func(dir string) bool { return inside(dir, []string{real}) }
	return slices.ContainsFunc(k.closed, isIn) || slices.ContainsFunc(k.fixed, isIn)
}

func inside(name string, dirs []string) bool {
	for _, dir := range dirs {
		if dir == "." || name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// real is what a name leads to, folded. Links that lead outside stay as they
// are: os.Root refuses them.
func (r *rootFS) real(name string, follow bool) string {
	rest := strings.Split(path.Clean(name), "/")
	at := "."
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if next == ".." || strings.HasPrefix(next, "../") {
			return fold(path.Join(append([]string{next}, rest...)...))
		}
		info, err := r.root.Lstat(next)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && (follow || len(rest) > 0) && links < 40 {
			if target, err := r.root.Readlink(next); err == nil && !path.IsAbs(target) {
				links++
				rest = append(strings.Split(path.Clean(target), "/"), rest...)
				continue
			}
		}
		at = next
	}
	return fold(at)
}
