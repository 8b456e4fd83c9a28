package home

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// ManagedDir is where an administrator puts settings. It comes from the system
// and not from the variable ProgramData, which the user could set.
func ManagedDir() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		dir = `C:\ProgramData`
	}
	return filepath.Join(dir, "zot")
}
