//go:build !windows

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CheckOwner refuses a managed file or folder that others than root could have
// written: it and the folder of a file must belong to root and be writable by it
// alone.
func CheckOwner(path string) error { return CheckOwnedBy(0)(path) }

// CheckOwnedBy is CheckOwner for another user than root.
func CheckOwnedBy(uid int) func(path string) error {
	return func(path string) error {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("checking who owns %q: %w", path, err)
		}
		all := []string{real}
		if info, err := os.Stat(real); err == nil && !info.IsDir() {
			all = append(all, filepath.Dir(real), filepath.Dir(path))
		}
		for _, p := range all {
			if err := checkOne(p, uid); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkOne(path string, uid int) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("checking who owns %q: %w", path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
		return fmt.Errorf("%q does not belong to root; run chown root on it", path)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%q has mode %o, so others can write it; run chmod go-w on it", path, mode)
	}
	return nil
}
