package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
)

// originsFile lies in the store and says where what it holds was seen to come
// from.
const originsFile = "origins.json"

// CameFrom tells whether this machine has fetched the bytes with the digest from
// the source. A lock only claims it, and anybody can write a lock; a rule about
// sources must not be passed by a claim.
func (s Store) CameFrom(digest, source string) bool {
	origins, err := s.origins(nil)
	return err == nil && slices.ContainsFunc(origins[digest], func(seen string) bool { return policies.SameSource(seen, source) })
}

// Note remembers that the bytes with the digest were fetched from the source.
func (s Store) Note(h home.Home, digest, source string) error {
	if s.CameFrom(digest, source) {
		return nil
	}
	if err := home.EnsureDir(s.Dir); err != nil {
		return err
	}
	return h.Update(filepath.Join(s.Dir, originsFile), func(old []byte) ([]byte, error) {
		origins, err := s.origins(old)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(origins[digest], source) {
			origins[digest] = append(origins[digest], source)
		}
		return json.MarshalIndent(origins, "", "  ")
	})
}

// origins reads what is known of sources, by digest; text is the file's where it
// has been read.
func (s Store) origins(text []byte) (map[string][]string, error) {
	origins := map[string][]string{}
	if text == nil {
		var err error
		if text, err = os.ReadFile(filepath.Join(s.Dir, originsFile)); errors.Is(err, os.ErrNotExist) {
			return origins, nil
		} else if err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return origins, nil
	}
	if err := json.Unmarshal(text, &origins); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and run zot ext sync", filepath.Join(s.Dir, originsFile), err)
	}
	return origins, nil
}
