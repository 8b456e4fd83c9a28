package home

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Options says what [Resolve] looks at. Nothing is taken from the process
// itself, so a caller that leaves a field empty leaves that source out.
type Options struct {
	Flag        string                      // value of --home; empty: not given
	Getenv      func(string) (string, bool) // like os.LookupEnv; nil: no environment
	Managed     string                      // "home" of the administrator's settings
	ManagedFrom string                      // where that was written, for messages: file:line
	GOOS        string                      // like runtime.GOOS
	UserHome    string                      // the user's home folder; may be empty
	ProjectRoot string                      // folder of the project; may be empty
}

// Origin says which source named the state folder.
type Origin string

// The sources, highest first.
const (
	FromFlag    Origin = "--home"
	FromEnv     Origin = "ZOT_HOME"
	FromManaged Origin = "managed settings"
	FromXDG     Origin = "XDG_STATE_HOME"
	FromDefault Origin = "default"
)

// A LocationError says that a source names a folder that cannot be the state
// folder.
type LocationError struct {
	Origin Origin
	Value  string // as it was written
	Reason string
	Remedy string
}

func (e *LocationError) Error() string {
	return fmt.Sprintf("home folder %q from %s: %s (ZP065); %s", e.Value, e.Origin, e.Reason, e.Remedy)
}

// Resolve finds the state folder. The flag wins over the variable ZOT_HOME,
// which wins over the administrator's settings, over XDG_STATE_HOME (on every
// platform) and over the platform's own place. The first source that has a
// value decides: where that value is unfit the answer is a *LocationError and
// not the next source. Nothing is created.
func Resolve(o Options) (Home, Origin, error) {
	value, origin, err := o.source()
	if err != nil {
		return "", "", err
	}
	dir, err := o.check(value, origin)
	if err != nil {
		return "", origin, err
	}
	return Home(dir), origin, nil
}

func (o Options) source() (string, Origin, error) {
	if o.Flag != "" {
		return o.Flag, FromFlag, nil
	}
	if v := o.env("ZOT_HOME"); v != "" {
		return v, FromEnv, nil
	}
	if o.Managed != "" {
		return o.Managed, FromManaged, nil
	}
	// The base-directory rules say that a relative value is to be ignored.
	if v := o.env("XDG_STATE_HOME"); o.isAbs(Expand(v, o.UserHome)) {
		return o.join(v, "zot"), FromXDG, nil
	}
	v, err := o.platformDefault()
	return v, FromDefault, err
}

func (o Options) platformDefault() (string, error) {
	if o.GOOS == "windows" {
		if v := o.env("LOCALAPPDATA"); v != "" {
			return o.join(v, "zot"), nil
		}
	}
	if o.UserHome == "" {
		return "", errors.New("finding the home folder of zot: the user has no home folder; set ZOT_HOME to an absolute path")
	}
	switch o.GOOS {
	case "windows":
		return o.join(o.UserHome, "AppData", "Local", "zot"), nil
	case "darwin":
		return o.join(o.UserHome, "Library", "Application Support", "zot"), nil
	default:
		return o.join(o.UserHome, ".local", "state", "zot"), nil
	}
}

func (o Options) check(value string, origin Origin) (string, error) {
	fail := func(reason, remedy string) (string, error) {
		return "", &LocationError{Origin: o.describe(origin), Value: value, Reason: reason, Remedy: remedy}
	}
	dir := Expand(value, o.UserHome)
	if strings.ContainsRune(dir, 0) {
		return fail("holds a NUL byte", "give an absolute path")
	}
	if !o.isAbs(dir) {
		return fail("not an absolute path", "give a path that starts at the root, or with ~/")
	}
	dir = filepath.Clean(dir)
	if origin != FromFlag && o.ProjectRoot != "" && Inside(dir, o.ProjectRoot) {
		return fail("inside the project "+o.ProjectRoot+", where the project's own files could stand in for your state",
			"choose a folder outside it, or name this one with --home")
	}
	return dir, nil
}

func (o Options) describe(origin Origin) Origin {
	if origin == FromManaged && o.ManagedFrom != "" {
		return Origin(o.ManagedFrom)
	}
	return origin
}

func (o Options) env(name string) string {
	if o.Getenv == nil {
		return ""
	}
	v, _ := o.Getenv(name)
	return v
}

// isAbs and join follow the rules of the platform that is asked about, which
// in a test is not the one the test runs on.
func (o Options) isAbs(path string) bool {
	if o.GOOS == "windows" {
		return filepath.IsAbs(path) || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	}
	return filepath.IsAbs(path)
}

func (o Options) join(elem ...string) string {
	if o.GOOS == "windows" {
		return strings.Join(elem, `\`)
	}
	return filepath.Join(elem...)
}

// Expand replaces a leading ~/ (or a lone ~) by the user's home folder. Any
// other tilde is part of the name: "~name/x" and "a~b" stay as they are. With
// no home folder known, path comes back unchanged.
func Expand(path, userHome string) string {
	if userHome == "" {
		return path
	}
	if path == "~" {
		return userHome
	}
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok && filepath.Separator == '\\' {
		rest, ok = strings.CutPrefix(path, `~\`)
	}
	if !ok {
		return path
	}
	return filepath.Join(userHome, rest)
}

// Inside tells whether path is root or lies below it, links followed as far
// as the path exists. It compares without regard to case where the platform's
// file systems commonly do.
func Inside(path, root string) bool {
	rel, err := filepath.Rel(fold(Real(root)), fold(Real(path)))
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// Real follows the links in path. What does not exist yet is kept as it is
// written, below the real path of its nearest parent that exists.
func Real(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	// A link to something that is missing leads there all the same.
	if target, err := followLinks(path); err == nil {
		path = target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(Real(parent), filepath.Base(path))
}
