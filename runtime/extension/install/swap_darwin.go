package install

import (
	"errors"

	"golang.org/x/sys/unix"
)

func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

// cannotExchange tells a file system without the call from a failure.
func cannotExchange(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
