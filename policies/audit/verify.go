package audit

import "errors"

// A Chain is what [VerifyAll] found.
type Chain struct {
	Files   []string `json:"files"` // oldest first
	Records int      `json:"records"`
	Last    string   `json:"last,omitempty"` // hash of the last record
	// Broken says where the chain ends, if it is not whole.
	Broken *ChainError `json:"broken,omitempty"`
}

// VerifyAll checks the log at path together with the older files beside it, and
// that each goes on where the one before ends, the first where nothing was, unless
// there are so many that an older one was dropped. The error is a *ChainError
// where the chain is broken. That the last lines are missing is seen by the hash
// of the last alone.
func VerifyAll(path string) (Chain, error) {
	chain := Chain{Files: []string{}}
	all := files(path)
	whole := len(all) <= Kept
	for _, file := range all {
		n, last, err := verify(file, chain.Last, whole || len(chain.Files) > 0)
		chain.Files = append(chain.Files, file)
		chain.Records += n
		if last != "" {
			chain.Last = last
		}
		if err != nil {
			errors.As(err, &chain.Broken)
			return chain, err
		}
	}
	return chain, nil
}
