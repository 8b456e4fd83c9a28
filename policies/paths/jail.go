package paths

import (
	"errors"
	"fmt"
	"os"
)

// A Jail confines reads and writes to folders. Its roots are held open, and
// the operating system keeps every access below them, so a path that leads
// out fails however quickly links are swapped. It is safe for concurrent use.
// Close it.
type Jail struct {
	dirs  []string
	roots []*os.Root
}

// NewJail opens the roots, which must be folders. They are resolved first: a
// root given as a link means its target.
func NewJail(roots ...string) (*Jail, error) {
	j := &Jail{}
	for _, r := range roots {
		if err := j.add(r); err != nil {
			_ = j.Close()
			return nil, fmt.Errorf("jail root %q: %w", r, err)
		}
	}
	return j, nil
}

func (j *Jail) add(dir string) error {
	p, err := (Resolver{}).Resolve(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(p.Real)
	if err != nil {
		return plain("opening", p.Real, err)
	}
	j.dirs, j.roots = append(j.dirs, p.Real), append(j.roots, root)
	return unmoved(root, p.Real)
}

// Close lets go of the roots.
func (j *Jail) Close() error {
	var err error
	for _, r := range j.roots {
		err = errors.Join(err, r.Close())
	}
	return err
}

// Check is a [Check]: an [EscapeError] for a path outside of every root.
func (j *Jail) Check(op Op, real string) error {
	if j.find(real) < 0 {
		return &EscapeError{Op: op, Real: real, Roots: j.dirs}
	}
	return nil
}

// Hold is [Hold], or [HoldMaking] if makeDirs, through a root of the jail. The
// error is an [EscapeError] for a path outside.
func (j *Jail) Hold(op Op, p Path, makeDirs bool) (*Place, error) {
	i := j.find(p.Real)
	if i < 0 {
		return nil, &EscapeError{Op: op, Real: p.Real, Roots: j.dirs}
	}
	return hold(j.roots[i], j.dirs[i], p, makeDirs)
}

// find returns the index of the root that real is in, or -1.
func (j *Jail) find(real string) int {
	for i, d := range j.dirs {
		if Contains(d, real) {
			return i
		}
	}
	return -1
}
