//go:build !windows

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CheckOwner refuses a managed file that others than root could have written:
// the file and its folder must belong to root and be writable by it alone.
func CheckOwner(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("checking who owns %q: %w", path, err)
	}
	for _, p := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("checking who owns %q: %w", p, err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 {
			return fmt.Errorf("%q does not belong to root; run chown root on it", p)
		}
		if mode := info.Mode().Perm(); mode&0o022 != 0 {
			return fmt.Errorf("%q has mode %o, so others can write it; run chmod go-w on it", p, mode)
		}
	}
	return nil
}
