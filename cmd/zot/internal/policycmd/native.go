package policycmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// magics begin the programs of the systems that zot runs on.
var magics = [][]byte{
	[]byte("\x7fELF"), []byte("MZ"),
	{0xfe, 0xed, 0xfa, 0xce}, {0xfe, 0xed, 0xfa, 0xcf}, {0xce, 0xfa, 0xed, 0xfe}, {0xcf, 0xfa, 0xed, 0xfe},
}

// native tells whether an extension starts a program in its folder that was
// built for one system: on another it has other bytes, or none that run.
func native(dir string, m *manifest.Manifest) bool {
	if m.Transport != manifest.Subprocess || !filepath.IsLocal(filepath.FromSlash(m.Exec)) {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(m.Exec))
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head) // a file of less is no program
	for _, magic := range magics {
		if bytes.HasPrefix(head[:n], magic) {
			return true
		}
	}
	return false
}
