package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// ext ends the names of sessions, and ExportExt those of exported ones.
const (
	ext       = ".jsonl"
	ExportExt = ".zotsession"
)

// Folder is where the sessions of a working folder are. Each folder of its own
// has one of its own, whatever it is inside of.
func (st *Store) Folder(cwd string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(cwd)))
	return filepath.Join(st.dir, hex.EncodeToString(sum[:8]))
}

// fileName is "20260504-030201-1a2b3c4d.jsonl", in UTC.
func fileName(started time.Time, id string) string {
	return started.UTC().Format("20060102-150405") + "-" + id[:8] + ext
}

// idPrefix is the part of the id that a file's name holds, or empty where the
// name is of another form.
func idPrefix(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ext)
	parts := strings.Split(name, "-")
	if len(parts) != 3 {
		return ""
	}
	return parts[2]
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
