package subprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Check finds what would keep the program from starting, or let it start only
// to fail in a way that hides the cause. [Start] does so by itself; it is for
// programs that another one is to start, as a sandbox. The error is a
// *[StartError].
func Check(o Options) error {
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
			return fail(o, fmt.Sprintf("its working directory %q is not a folder that can be used", o.Dir), err)
		}
	}
	if !filepath.IsAbs(o.Path) {
		return fail(o, "the path is not absolute", nil)
	}
	info, err := os.Stat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink(o.Path):
		return fail(o, "it is a link to a file that does not exist", err)
	case errors.Is(err, fs.ErrNotExist):
		return fail(o, "there is no such file", err)
	case err != nil:
		return fail(o, rootCause(err), err)
	case info.IsDir():
		return fail(o, "it is a folder, not a program", nil)
	case !info.Mode().IsRegular():
		return fail(o, "it is no regular file", nil)
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fail(o, "it has no execute permission (chmod +x gives it)", nil)
	}
	return checkInterpreter(o)
}

func fail(o Options, cause string, err error) error {
	return &StartError{Path: o.Path, Cause: cause, Err: err}
}

func isLink(path string) bool {
	_, err := os.Readlink(path)
	return err == nil
}

// rootCause drops the operation and the path, which are said already.
func rootCause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
