package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/patriceckhart/zot/policies"
)

// A Refused is a right that an extension did not have when it tried to use it.
type Refused struct {
	Code       policies.Code       `json:"code"`
	Capability policies.Capability `json:"capability"`
	Value      string              `json:"value,omitempty"`
	By         policies.Origin     `json:"by"`
	Policy     string              `json:"-"`     // digest of the policy that refused it last
	Count      int                 `json:"count"` // in how many runs, or for how many calls
	Last       time.Time           `json:"last"`
}

// maxRefused bounds what is remembered of one extension, while the log is read.
const maxRefused = 1000

// RefusedTo lists what the log at path, and the older files beside it, say was
// refused to each of the extensions, the latest first. Each right counts once,
// however often it was tried. No log is no error; a line that cannot be read is
// passed over, since [Verify] is for those.
func RefusedTo(path string, extensions ...string) (map[string][]Refused, error) {
	all := map[string][]Refused{}
	if len(extensions) == 0 {
		return all, nil
	}
	var errs []error
	for _, file := range files(path) {
		errs = append(errs, refusedIn(file, extensions, all))
	}
	for _, found := range all {
		slices.SortStableFunc(found, func(a, b Refused) int { return cmp.Compare(b.Last.UnixNano(), a.Last.UnixNano()) })
	}
	return all, errors.Join(errs...)
}

// aboutARight is in the line of every record that is about one.
var aboutARight = []byte(`"capability":`)

func refusedIn(path string, extensions []string, all map[string][]Refused) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another zot has begun a new one
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Record
		if !bytes.Contains(lines.Bytes(), aboutARight) || json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		if r.Verdict == policies.Allow || !slices.Contains(extensions, r.Extension) {
			continue
		}
		all[r.Extension] = withRefusal(all[r.Extension], r)
	}
	return lines.Err()
}

func withRefusal(found []Refused, r Record) []Refused {
	now := Refused{Code: r.Code, Capability: r.Capability, Value: r.Value, By: r.By, Policy: r.Policy, Count: 1, Last: r.Time}
	same := func(o Refused) bool { return o.Capability == r.Capability && o.Value == r.Value }
	if at := slices.IndexFunc(found, same); at >= 0 {
		now.Count += found[at].Count
		found[at] = now
		return found
	}
	if len(found) >= maxRefused {
		found = found[1:]
	}
	return append(found, now)
}

// files are the log at path and the older ones beside it, oldest first, as far
// as they are there.
func files(path string) (all []string) {
	for i := Kept; i >= 0; i-- {
		file := path
		if i > 0 {
			file = fmt.Sprintf("%s.%d", path, i)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, file)
		}
	}
	return all
}
