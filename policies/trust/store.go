package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/schemas"
)

// A Store keeps records in trust.json of the state folder. The hashes of a
// project's files, which can be many, are in a file of their own that the
// record names by its hash. That file's name has the hash, too: whoever is
// interrupted between the two leaves the record that was there.
type Store struct{ Home home.Home }

// stored is a record in the file.
type stored struct {
	*Record
	Files string `json:"files"` // SHA-256 of the file with the hashes
}

// sumsPath is the file with the hashes of that hash; "*" stands for any.
func (s Store) sumsPath(id, hash string) string {
	return filepath.Join(s.Home.ProjectDir(id), "approved-"+hash+".json")
}

// forget removes the files with hashes but the one that the record names.
func (s Store) forget(id, but string) {
	files, _ := filepath.Glob(s.sumsPath(id, "*"))
	for _, file := range files {
		if file != but {
			_ = os.Remove(file) // without its record it says nothing
		}
	}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Lookup returns the record of a project, or nil where there is none. An error
// means that the store cannot be read, and then nothing counts as approved.
func (s Store) Lookup(id Identity) (*Record, error) {
	if id.Session {
		return nil, nil
	}
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	n := f.Root.Find("projects", id.ID)
	if n == nil {
		return nil, nil
	}
	var st stored
	if err := json.Unmarshal(n.JSON(), &st); err != nil || st.Record == nil {
		return nil, fmt.Errorf("%s: the record is damaged; approve the project again", document.Place(f.Name, n.Pos))
	}
	st.held = map[string]*document.Node{}
	if kept := n.Get("policy"); kept != nil {
		for _, m := range kept.Members {
			st.held[m.Name] = m.Value
		}
	}
	path := s.sumsPath(id.ID, filepath.Base(st.Files))
	data, err := os.ReadFile(path)
	if err != nil || hashOf(data) != st.Files || json.Unmarshal(data, &st.sums) != nil {
		return nil, fmt.Errorf("%s is not what %s says it is; approve the project again", path, f.Name)
	}
	return st.Record, nil
}

func (s Store) read() (*document.File, error) {
	path := s.Home.TrustFile()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what was approved: %w", err)
	}
	f, err := document.Parse(path, data)
	if err != nil {
		return nil, fmt.Errorf("reading what was approved: %w", err)
	}
	return f, nil
}

// Approve keeps a record. It refuses what is trusted for a session at most.
func (s Store) Approve(id Identity, r *Record) error {
	if id.Session {
		return fmt.Errorf("%s is trusted for this session at most", id.Root)
	}
	data, err := json.Marshal(r.sums)
	if err != nil {
		return err
	}
	path := s.sumsPath(id.ID, hashOf(data))
	if err := home.WriteFile(path, data, home.FileMode); err != nil {
		return err
	}
	err = s.update(func(f *document.File) ([]byte, error) {
		return f.Set([]string{"projects", id.ID}, stored{r, hashOf(data)})
	})
	if err == nil {
		s.forget(id.ID, path)
	}
	return err
}

// Revoke forgets a project, and tells whether there was anything to forget.
func (s Store) Revoke(id Identity) (bool, error) {
	found := false
	err := s.update(func(f *document.File) ([]byte, error) {
		found = f.Root.Find("projects", id.ID) != nil
		return f.Unset([]string{"projects", id.ID})
	})
	if err == nil && found {
		s.forget(id.ID, "")
	}
	return found, err
}

func (s Store) update(change func(*document.File) ([]byte, error)) error {
	path := s.Home.TrustFile()
	return s.Home.Update(path, func(old []byte) ([]byte, error) {
		if len(old) == 0 {
			old = []byte("{\n  \"$schema\": \"" + schemas.ID("trust") + "\",\n  \"version\": 1\n}\n")
		}
		f, err := document.Parse(path, old)
		if err != nil {
			return nil, fmt.Errorf("%w; the file was left as it is", err)
		}
		out, err := change(f)
		if errors.Is(err, document.ErrNoChange) {
			return old, nil
		}
		return out, err
	})
}
