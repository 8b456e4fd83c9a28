package install

import (
	"os"

	"github.com/patriceckhart/zot/config/home"
)

// replace puts the staged tree in the place of target, and target into the
// staging folder as old. Where the system can exchange two folders that is one
// step; elsewhere it is two, and between them a note in the staging folder tells
// [Tidy] to put the old one back.
func (s *staging) replace(target, name string) error {
	if err := step("swap"); err != nil {
		return err
	}
	err := exchange(s.path(treeDir), target)
	if err == nil {
		return os.Rename(s.path(treeDir), s.path(oldDir))
	}
	if !cannotExchange(err) {
		return err
	}
	return s.replaceInTwo(target, name)
}

func (s *staging) replaceInTwo(target, name string) error {
	if err := home.WriteFile(s.path(targetFile), []byte(name), home.FileMode); err != nil {
		return err
	}
	if err := os.Rename(target, s.path(oldDir)); err != nil {
		return err
	}
	if err := step("swap, between"); err != nil {
		return restore(s.path(oldDir), target, err)
	}
	if err := os.Rename(s.path(treeDir), target); err != nil {
		return restore(s.path(oldDir), target, err)
	}
	return os.Remove(s.path(targetFile))
}

func restore(old, target string, cause error) error {
	_ = os.Rename(old, target)
	return cause
}
