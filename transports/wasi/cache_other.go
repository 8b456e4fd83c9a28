//go:build !unix

package wasi

import "io/fs"

// othersMayWrite cannot tell: the folder has the rights of the user's profile.
func othersMayWrite(fs.FileInfo) bool { return false }
