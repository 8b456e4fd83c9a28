// Package confine puts the walls of the operating system around a process: on
// Linux, Landlock for files, seccomp for system calls, no new privileges, no
// capabilities, and limits. Other systems have nothing of the kind that a
// program can ask for, and say so.
//
//	report, err := confine.Self(confine.Policy{Write: []string{dir}})
//
// confines the process that calls it, all its threads and all its children,
// for good. [Command] has another program confined in that way: this binary
// is started in its place, confines itself, and turns into the program.
//
// Nothing is done by halves in silence: what is asked for and cannot be had
// is listed in the [Report], and whether that will do is for the caller to say.
package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Policy says what a process may still do. The zero value leaves it
// computing, and its open descriptors.
type Policy struct {
	Read  []string `json:"read,omitempty"`  // files, and folders with all below, as absolute paths
	Write []string `json:"write,omitempty"` // the same, for reading and writing

	// Exec lets it start programs, whose files must be readable. They are
	// confined as it is.
	Exec bool `json:"exec,omitempty"`

	// TCP are the ports that it may connect to, of any host; with none it has
	// no network at all, local sockets included.
	TCP []uint16 `json:"tcp,omitempty"`

	// Network leaves it the whole network.
	Network bool `json:"network,omitempty"`

	// OnlyFiles leaves it the network, other processes and its limits as they
	// are, and puts up the wall around files alone.
	OnlyFiles bool `json:"onlyFiles,omitempty"`

	// Shield is raised first, and where Exec is not set nothing else: see
	// [Shield.Over]. What is started must be prepared with [Shield.Prepare].
	Shield *Shield `json:"shield,omitempty"`

	// Partly puts up the walls that can stand, and starts the program without the
	// others. [Supported] has told which those are.
	Partly bool `json:"partly,omitempty"`

	DataLimit uint64 `json:"dataLimit,omitempty"` // most private memory in bytes; 0 is no limit
	FileLimit uint64 `json:"fileLimit,omitempty"` // most open descriptors; 0 is no limit of ours
}

// A Wall is one thing that is enforced.
type Wall string

// The walls.
const (
	Files      Wall = "files"      // only the files of the policy
	Network    Wall = "network"    // only the connections of the policy
	Processes  Wall = "processes"  // no other process is reached, and without Exec none is started
	Privileges Wall = "privileges" // none beyond the user's own, and none to gain
	Limits     Wall = "limits"     // memory and descriptors
)

var walls = []Wall{Files, Network, Processes, Privileges, Limits}

// A Report says which walls stand.
type Report struct {
	Enforced   []Wall          `json:"enforced,omitempty"`
	Unenforced map[Wall]string `json:"unenforced,omitempty"` // with the cause
}

// stands says whether the walls that the policy asks for do.
func (p Policy) stands(r Report) bool {
	switch {
	case p.Partly:
		return true
	case p.OnlyFiles:
		return slices.Contains(r.Enforced, Files)
	}
	return r.Complete()
}

// Complete says whether all walls stand.
func (r Report) Complete() bool { return len(r.Enforced) == len(walls) }

// String lists what is enforced, and what is not with its cause.
func (r Report) String() string {
	var parts []string
	for _, wall := range walls {
		switch cause, missing := r.Unenforced[wall]; {
		case missing:
			parts = append(parts, fmt.Sprintf("%s not enforced (%s)", wall, cause))
		case slices.Contains(r.Enforced, wall):
			parts = append(parts, string(wall)+" enforced")
		}
	}
	return strings.Join(parts, ", ")
}

func (r *Report) stands(wall Wall) { r.Enforced = append(r.Enforced, wall) }

func (r *Report) missing(wall Wall, cause string) {
	if r.Unenforced == nil {
		r.Unenforced = map[Wall]string{}
	}
	r.Unenforced[wall] = cause
}

// HelperArg is the hidden first argument that makes this binary the helper of
// [Command]: main hands what follows it to [HelperMain] before anything else.
const HelperArg = "__confine"

// Command returns what to start so that program runs with args, confined. The
// program's files must be readable by the policy, its loader and libraries
// included, and Exec must be set.
func Command(p Policy, program string, args []string) (path string, all []string, err error) {
	if !p.Exec {
		return "", nil, fmt.Errorf("confining %q: the policy must let it be executed", program)
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("confining %q: %w", program, err)
	}
	policy, err := json.Marshal(p)
	if err != nil {
		return "", nil, err
	}
	return self, append([]string{HelperArg, string(policy), program}, args...), nil
}

// helperFailed is the exit status of a helper that could not do its work; the
// cause is on its standard error.
const helperFailed = 126

// HelperMain is the helper's main function; args are those after [HelperArg].
// It does not return where all goes well. A wall that cannot stand is an error.
func HelperMain(args []string) int {
	err := help(args)
	if err == nil {
		return 0 // it was only tried
	}
	fmt.Fprintln(os.Stderr, "confine:", err)
	return helperFailed
}

func help(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%q is for zot's own use", HelperArg)
	}
	var p Policy
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	if p.Shield != nil {
		if err := p.Shield.raise(); err != nil || args[1] == "" {
			return err
		}
		if !p.Exec {
			return replaceSelf(args[1], args[1:])
		}
	}
	report, err := Self(p)
	if err != nil {
		return err
	}
	if !p.stands(report) {
		return fmt.Errorf("%q is not started: %v", args[1], report)
	}
	return replaceSelf(args[1], args[1:])
}
