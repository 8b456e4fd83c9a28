// Package bench measures zot against the least that the same work can cost.
// Each benchmark has its counterpart beside it and reports the ratio of the
// two, measured in turns in one run:
//
//	go test -run '^$' -bench . ./cmd/zot/internal/bench
package bench
