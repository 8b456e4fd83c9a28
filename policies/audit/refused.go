package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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
	Count      int                 `json:"count"` // in how many runs, or for how many calls
	Last       time.Time           `json:"last"`
}

// maxRefused bounds what is told of one extension.
const maxRefused = 20

// RefusedTo lists what the log at path says was refused to an extension under a
// policy of that digest, the latest first and 20 at most. Each right counts
// once, however often it was tried. No log is no error; a line that cannot be
// read is passed over, since [Verify] is for those.
func RefusedTo(path, extension, policy string) ([]Refused, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	name, err := json.Marshal(extension)
	if err != nil {
		return nil, err
	}
	mark := append([]byte(`"extension":`), name...)
	var found []Refused
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Record
		if !bytes.Contains(lines.Bytes(), mark) || json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		if r.Extension != extension || r.Policy != policy || r.Capability == "" || r.Verdict == policies.Allow {
			continue
		}
		same := func(o Refused) bool { return o.Code == r.Code && o.Capability == r.Capability && o.Value == r.Value }
		if at := slices.IndexFunc(found, same); at >= 0 {
			found[at].Count++
			found[at].Last = r.Time
			continue
		}
		found = append(found, Refused{Code: r.Code, Capability: r.Capability, Value: r.Value, By: r.By, Count: 1, Last: r.Time})
	}
	slices.SortStableFunc(found, func(a, b Refused) int { return cmp.Compare(b.Last.UnixNano(), a.Last.UnixNano()) })
	return found[:min(len(found), maxRefused)], lines.Err()
}
