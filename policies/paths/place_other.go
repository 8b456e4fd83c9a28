//go:build !unix

package paths

import (
	"io/fs"
	"os"
)

const openNonblock = 0

func isBusyProgram(error) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}
