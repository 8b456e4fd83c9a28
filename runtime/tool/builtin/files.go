package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/tool"
)

// files is what the tools on files share: the one rule for paths.
type files struct {
	cwd   string
	res   paths.Resolver
	check paths.Check
	jail  func() *paths.Jail
}

func newFiles(o Options) *files {
	f := &files{cwd: o.CWD, res: paths.Resolver{CWD: o.CWD, Home: o.Home}, check: o.CheckPath, jail: o.Jail}
	if f.jail == nil {
		f.jail = func() *paths.Jail { return nil }
	}
	return f
}

// errDenied marks an error as a refusal, so that the result says blocked.
type errDenied struct{ error }

func (e errDenied) Unwrap() error { return e.error }

// resolve finds the real path and has each op on it judged.
func (f *files) resolve(given string, ops ...paths.Op) (paths.Path, error) {
	p, err := f.res.Resolve(given)
	if err != nil {
		return p, err
	}
	for _, op := range ops {
		if err := f.judge(op, p.Real); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (f *files) judge(op paths.Op, real string) error {
	if jail := f.jail(); jail != nil {
		if err := jail.Check(op, real); err != nil {
			return errDenied{err}
		}
	}
	if f.check != nil {
		if err := f.check(op, real); err != nil {
			return errDenied{fmt.Errorf("%s of %q is not allowed: %w", op, real, err)}
		}
	}
	return nil
}

// hold pins the place that was judged.
func (f *files) hold(op paths.Op, p paths.Path, makeDirs bool) (*paths.Place, error) {
	if jail := f.jail(); jail != nil {
		return jail.Hold(op, p, makeDirs)
	}
	if makeDirs {
		return paths.HoldMaking(p)
	}
	return paths.Hold(p)
}

// existing is resolve for a file that has to be there.
func (f *files) existing(given string, ops ...paths.Op) (paths.Path, error) {
	p, err := f.resolve(given, ops...)
	if err != nil {
		return p, err
	}
	if !p.Exists {
		return p, fmt.Errorf("%q does not exist%s", p.Real, f.suggest(p))
	}
	return p, nil
}

// accesses says what a call on a path touches. The key is the same for every
// spelling of a file, whether or not it exists already.
func (f *files) accesses(raw []byte, write bool) []tool.Access {
	p, err := f.pathOf(raw)
	if err != nil {
		return nil
	}
	return []tool.Access{{Key: paths.Fold(p.Real), Write: write}}
}

func (f *files) pathOf(raw []byte) (paths.Path, error) {
	a, err := parseArgs(raw)
	if err != nil {
		return paths.Path{}, err
	}
	given, err := a.path()
	if err != nil {
		return paths.Path{}, err
	}
	return f.res.Resolve(given)
}

func (f *files) uses(raw []byte, ops ...paths.Op) ([]paths.Use, error) {
	p, err := f.pathOf(raw)
	if err != nil {
		return nil, err
	}
	var uses []paths.Use
	for _, op := range ops {
		uses = append(uses, paths.Use{Op: op, Path: p})
	}
	return uses, nil
}

// name is the file of a call for a confirmation line: as it was given, and
// where that really is if it is elsewhere.
func (f *files) name(raw []byte) string {
	p, err := f.pathOf(raw)
	switch {
	case err != nil && p.Given == "":
		a, _ := parseArgs(raw)
		given, _ := a.path()
		return visible(given)
	case p.Changed(f.cwd):
		return visible(p.Given) + " -> " + visible(p.Real)
	}
	return visible(p.Given)
}

// onFile runs a tool that works on one file: f gets the arguments and the path
// among them, and its error is the model's to read.
func onFile(ctx context.Context, name string, raw []byte, f func(a args, path string) (tool.Result, error)) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	res, err := func() (tool.Result, error) {
		a, err := parseArgs(raw)
		if err != nil {
			return tool.Result{}, err
		}
		path, err := a.path()
		if err != nil {
			return tool.Result{}, err
		}
		return f(a, path)
	}()
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	}
	return failed(name, err), nil
}

// failed is the result of a call that could not be done.
func failed(name string, err error) tool.Result {
	r := tool.ErrorResult(name + ": " + explain(err))
	if errors.As(err, new(errDenied)) || errors.As(err, new(*paths.EscapeError)) {
		r.Status = tool.Blocked
	}
	return r
}

// explain words an error with its path quoted, so that a name cannot imitate
// anything else.
func explain(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) && pe == err {
		return fmt.Sprintf("%s %q: %v", pe.Op, pe.Path, pe.Err)
	}
	return err.Error()
}
