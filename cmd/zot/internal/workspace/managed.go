package workspace

import "github.com/patriceckhart/zot/config/home"

var (
	managedDir   = home.ManagedDir
	managedOwner func(path string) error // nil: the platform's own check
)

// ManagedDir is where an administrator puts settings.
func ManagedDir() string { return managedDir() }

// TestOnlyManaged puts another folder in the place of the administrator's, with
// another check of who owns it. Only code can call it, and no code of the program
// does: there is no variable, flag or file that moves the administrator's folder.
func TestOnlyManaged(dir string, checkOwner func(path string) error) {
	managedDir, managedOwner = func() string { return dir }, checkOwner
}
