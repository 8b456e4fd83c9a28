//go:build !linux || !(amd64 || arm64)

package confine

import (
	"errors"
	"runtime"
)

// Supported says which walls could stand here: none.
func Supported() Report {
	var r Report
	for _, wall := range walls {
		r.missing(wall, "not available on "+runtime.GOOS+"/"+runtime.GOARCH)
	}
	return r
}

// Self confines nothing, and says so.
func Self(Policy) (Report, error) { return Supported(), nil }

func replaceSelf(string, []string) error { return errors.ErrUnsupported }
