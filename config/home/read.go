package home

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile reads a regular file, and no more than one byte beyond most, which
// tells that it is too long. It looks before it opens: a pipe of that name would
// block for ever. What is no file is a *NotAFileError.
func ReadFile(path string, most int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &NotAFileError{Path: path, Kind: Kind(info.Mode())}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)+1))
}

// A NotAFileError says what stands where a file should.
type NotAFileError struct{ Path, Kind string }

func (e *NotAFileError) Error() string {
	return fmt.Sprintf("%s is a %s; it must be a file", e.Path, e.Kind)
}

// Kind names the type of a file in words: "folder", "named pipe".
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
