package wasi

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// Jobs of a runner.
const (
	jobRun     = "run"
	jobCompile = "compile" // into the cache, and nothing else
)

// settings is what the host tells a runner: on a pipe, since the environment
// of a guest may hold what the list of processes should not show. Behind its
// JSON comes the module, the very bytes that the host has looked at.
type settings struct {
	Job    string         `json:"job"`
	Args   []string       `json:"args,omitempty"`
	Env    []string       `json:"env,omitempty"`
	Mounts []engine.Mount `json:"mounts,omitempty"`
	Pages  uint32         `json:"pages"`
	// OpenFiles bounds the guest's open files; 0 does not.
	OpenFiles int `json:"openFiles,omitempty"`
	// Interruptible is the variant of code to compile.
	Interruptible bool            `json:"interruptible,omitempty"`
	CallMax       time.Duration   `json:"callMax,omitempty"` // nanoseconds
	Cache         string          `json:"cache,omitempty"`
	Confine       *confine.Policy `json:"confine,omitempty"`
	// Complete ends the runner where a wall does not stand.
	Complete bool `json:"complete,omitempty"`
	module   []byte
}

const settingsMost = 64 << 20 // bounds either part; modules of 30 MiB exist

func (s settings) writeTo(w io.Writer) error {
	head, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var sizes [8]byte
	binary.BigEndian.PutUint32(sizes[:], uint32(len(head)))
	binary.BigEndian.PutUint32(sizes[4:], uint32(len(s.module)))
	for _, part := range [][]byte{sizes[:], head, s.module} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func readSettings(r io.Reader) (settings, error) {
	var s settings
	var sizes [8]byte
	if _, err := io.ReadFull(r, sizes[:]); err != nil {
		return s, err
	}
	head := binary.BigEndian.Uint32(sizes[:])
	module := binary.BigEndian.Uint32(sizes[4:])
	if head > settingsMost || module > settingsMost {
		return s, errors.New("settings out of all proportion")
	}
	buf := make([]byte, head)
	if _, err := io.ReadFull(r, buf); err != nil {
		return s, err
	}
	if err := json.Unmarshal(buf, &s); err != nil {
		return s, err
	}
	s.module = make([]byte, module)
	_, err := io.ReadFull(r, s.module)
	return s, err
}

// A status is what a runner tells the host: one when the guest is about to run
// or will not, one for each thing that it is refused, and one when it has ended.
// A runner that is killed tells nothing.
type status struct {
	Ready  bool           `json:"ready,omitempty"`
	Report confine.Report `json:"report,omitzero"` // with Ready

	Failed  string `json:"failed,omitempty"`  // why the guest does not run
	Module  bool   `json:"module,omitempty"`  // and the module is to blame
	Damaged bool   `json:"damaged,omitempty"` // or the cache

	Refused *transports.Refusal `json:"refused,omitempty"`

	Ended  bool   `json:"ended,omitempty"`
	Code   int    `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	Limit  string `json:"limit,omitempty"`
	Killed bool   `json:"killed,omitempty"` // the runner ended it at a limit
}

// err is why the guest does not run, or nil.
func (s status) err() error {
	switch {
	case s.Failed == "":
		return nil
	case s.Module:
		return &ModuleError{Problem: s.Failed}
	case s.Damaged:
		return fmt.Errorf("%w: %s", engine.ErrDamagedCache, s.Failed)
	}
	return errors.New(s.Failed)
}

func failed(err error) status {
	s := status{Failed: err.Error()}
	var moduleErr *ModuleError
	if errors.As(err, &moduleErr) {
		s.Module, s.Failed = true, moduleErr.Problem
	}
	s.Damaged = errors.Is(err, engine.ErrDamagedCache)
	return s
}
