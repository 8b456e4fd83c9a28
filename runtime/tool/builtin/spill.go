package builtin

import (
	"fmt"
	"os"
)

// A spill is the file that takes the whole output of one command once it does
// not fit in a result. Without a folder it is never opened.
type spill struct {
	dir    string
	max    int64
	file   *os.File
	path   string
	size   int64
	failed error
}

func newSpill(dir string, max int64) *spill { return &spill{dir: dir, max: max} }

// open reports whether the file takes what is written, or has given up.
func (s *spill) open() bool { return s.file != nil || s.failed != nil || s.dir == "" }

// create makes the file, for the user's eyes only; false if there is none to
// be or it could not be made.
func (s *spill) create() bool {
	if s.dir == "" || s.failed != nil {
		return false
	}
	if s.failed = os.MkdirAll(s.dir, 0o700); s.failed != nil {
		return false
	}
	if s.file, s.failed = os.CreateTemp(s.dir, "bash-*.txt"); s.failed != nil {
		return false
	}
	s.path = s.file.Name()
	return true
}

// write appends, up to the bound and up to the first failure.
func (s *spill) write(p []byte) {
	if s.file == nil || s.failed != nil {
		return
	}
	p = p[:min(int64(len(p)), s.max-s.size)]
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.failed = err
}

func (s *spill) close() {
	if s.file == nil {
		return
	}
	if err := s.file.Close(); s.failed == nil {
		s.failed = err
	}
	s.file = nil
}

// words tell where the whole output is.
func (s *spill) words() string {
	switch {
	case s.dir == "":
		return "the output was cut; to see the rest send it to a file, or through grep or tail"
	case s.failed != nil && s.path == "":
		return fmt.Sprintf("the output was cut, and could not be saved: %v", s.failed)
	case s.failed != nil:
		return fmt.Sprintf("the output was cut, and only its first %s could be saved to %q: %v", size(s.size), s.path, s.failed)
	case s.size >= s.max:
		return fmt.Sprintf("the output was cut; its first %s are in %q", size(s.size), s.path)
	}
	return fmt.Sprintf("the output was cut; all of it is in %q", s.path)
}
