// Package paths turns a path as somebody wrote it into the one real path that
// a file system would open, and opens exactly what was judged.
//
// The order is always the same: [Resolver.Resolve] follows every link, "..",
// "~/", file URL and spelling variant down to a [Path]; the caller judges
// Path.Real, which holds no link, no ".." and the spelling that the disk has;
// [Hold] (or [Jail.Hold], confined to its roots) then pins the folder of that
// path, checks that it still is the folder that was judged, and hands out a
// [Place] through which the file is read or atomically replaced. A link that
// is put in the way in between is an error and never a detour.
//
// The package judges nothing by itself but confinement ([Contains], [Jail]).
package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// An Op is what is about to be done with a path.
type Op string

// The operations. Listing a folder is a Read of it.
const (
	Read  Op = "read"
	Write Op = "write"
)

// A Check judges an operation on a real path; nil lets it happen. It is called
// before the file is opened.
type Check func(op Op, real string) error

// A Use is one operation that is going to happen on one path.
type Use struct {
	Op   Op
	Path Path
}

// A Path is a resolved path.
type Path struct {
	// Given is the path as it was written.
	Given string
	// Real is absolute and clean and goes through no link; for a file that does
	// not exist it is the place where it would be created.
	Real string
	// Exists says whether something is at Real, and Info what.
	Exists bool
	Info   fs.FileInfo
	// Folder says that the path was written as that of a folder: "x/".
	Folder bool

	// anchor is the deepest folder on the way to Real that exists.
	anchor string
}

// Changed reports whether Real says more than Given did, so that whoever wrote
// Given should be told: a link was followed, a "~" expanded, a name respelled.
// A relative path that simply is below cwd is not a change.
func (p Path) Changed(cwd string) bool {
	plain := filepath.FromSlash(p.Given)
	if !filepath.IsAbs(plain) {
		plain = filepath.Join(cwd, plain)
	}
	return filepath.Clean(plain) != p.Real
}

var (
	// ErrLoop is the cause when links lead in a circle.
	ErrLoop = errors.New("too many links, they lead in a circle")
	// ErrMoved is the cause when a path is no longer what it was when it was
	// resolved: a folder was swapped for a link, or a file for another.
	ErrMoved = errors.New("the path changed while it was being opened")
)

// An EscapeError says that a path is outside of every root of a [Jail].
type EscapeError struct {
	Op    Op
	Real  string
	Roots []string
}

func (e *EscapeError) Error() string {
	return fmt.Sprintf("%s of %q is not allowed: it is outside of %q", e.Op, e.Real, e.Roots)
}

// Contains reports whether real is root or below it. Both are real paths.
func Contains(root, real string) bool {
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

// ContainsFold is [Contains] for two paths whose spelling may differ, in case
// or in the composition of accents. It is the one to use for what must never
// be touched, since it can only find more.
func ContainsFold(root, real string) bool { return Contains(Fold(root), Fold(real)) }

// Fold returns a key that is the same for all spellings of a real path that
// some file system takes for one file.
func Fold(real string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(real)))
}

// Anchor is the deepest folder on the way to Real that exists: the folder of
// an existing file, or the one below which a new file's folders are missing.
func (p Path) Anchor() string { return p.anchor }
