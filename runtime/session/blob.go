package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/patriceckhart/zot/config/home"
)

// blobs is the folder that holds what is too large for a row, each file named
// by the SHA-256 of its content. Empty stands for none.
type blobs string

// blobsOf is the folder beside a session's file.
func blobsOf(session string) blobs { return blobs(filepath.Join(filepath.Dir(session), "blobs")) }

// put stores data, once, and returns its name and size.
func (b blobs) put(data []byte) (string, int64, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	path := filepath.Join(string(b), name)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		now := time.Now() // so that a cleaning at this moment sees it as new
		_ = os.Chtimes(path, now, now)
		return name, info.Size(), nil
	}
	if err := home.EnsureDir(string(b)); err != nil {
		return "", 0, err
	}
	return name, int64(len(data)), writeOnce(path, data)
}

// writeOnce writes a file through a temporary one, so that a name never stands
// for half of its content.
func writeOnce(path string, data []byte) error {
	tmp := path + "." + rand.Text()[:8] + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, home.FileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// errTooLarge says that a blob does not fit into the room that is left.
var errTooLarge = errors.New("too large to load")

// get reads a blob of at most limit bytes and checks that it is what its name
// says.
func (b blobs) get(name string, limit int64) ([]byte, error) {
	if !isHash(name) {
		return nil, fmt.Errorf("%.80q is no name of a blob", name)
	}
	if b == "" {
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(filepath.Join(string(b), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > limit {
		return nil, errTooLarge
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != name {
		return nil, errors.New("its content was changed")
	}
	return data, nil
}

func (b blobs) size(name string) int64 {
	if b == "" || !isHash(name) {
		return 0
	}
	info, err := os.Stat(filepath.Join(string(b), name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// copyTo makes the blob exist in another folder as well.
func (b blobs) copyTo(other blobs, name string) error {
	data, err := b.get(name, maxBlob)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // missing there as it is here
	}
	if err != nil {
		return err
	}
	_, _, err = other.put(data)
	return err
}

// maxBlob bounds what one blob may take of the memory, in bytes.
const maxBlob = 256 << 20

func isHash(name string) bool {
	if len(name) != sha256.Size*2 {
		return false
	}
	for _, c := range name {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
