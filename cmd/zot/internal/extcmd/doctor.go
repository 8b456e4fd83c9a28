package extcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

const (
	// quietWait is how long a start takes before the user is told what it waits
	// for.
	quietWait = time.Second
	// othersWait is how long those are waited for that were not asked about:
	// what they register may be in the way of the one that was.
	othersWait = 3 * time.Second
	// watchTime is how long they are watched then unless told otherwise: many a
	// program that is ready ends right away, because nothing in it waits for
	// more.
	watchTime = 500 * time.Millisecond
)

func (c *command) doctorCmd() *cobra.Command {
	var explicit []string
	var watch time.Duration
	cmd := &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "Start extensions as zot would, and say what is wrong",
		Long: `Starts what zot would start, the way it would, and reports on each extension, or
on the one called NAME: whether its manifest is good, why it is not loaded, how
its start went, what it registered and who else has the name, and what was kept
from it. Then everything is stopped again. No model is asked, and no tool runs.

An extension that ends by itself within half a second of being ready has an
error; --watch gives those more time that end later.

Status 1 where an extension has an error, is not ready in time, or has a
warning. One that is disabled, shadowed or held back is no fault.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.names,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return c.doctor(cmd.Context(), explicit, name, watch)
		},
	}
	c.jsonFlag(cmd)
	cmd.Flags().StringArrayVarP(&explicit, "ext", "e", nil, "a folder to look at as if given to zot itself")
	cmd.Flags().DurationVar(&watch, "watch", watchTime, "how long to see whether those that are ready stay")
	return cmd
}

func (c *command) doctor(ctx context.Context, explicit []string, name string, watch time.Duration) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	r := runcmd.Rehearse(w, explicit)
	r.Start()
	defer func() { r.Stop(context.WithoutCancel(ctx)) }()
	about, err := c.asked(w, r.Found(), name)
	if err != nil {
		return err
	}
	c.await(ctx, r, name, about, watch)
	if err := ctx.Err(); err != nil {
		return err
	}
	report := examine(r, about, name == "")
	if c.json {
		err = c.Streams.WriteJSON(report)
	} else {
		if len(report.Extensions) == 0 && len(report.Problems) == 0 {
			for _, text := range report.Notes {
				c.note("note: %s", text)
			}
			c.note("no extensions installed\ninstall one with: zot ext install FOLDER-OR-GIT-ADDRESS")
			return nil
		}
		err = report.print(c.Streams)
	}
	if err == nil && report.Wrong > 0 {
		err = &exit.Error{Code: exit.Failed, Err: errors.New("something is wrong"), Silent: true}
	}
	return err
}

// asked are the candidates to report on: all of one name, for one shadows the
// other, or all that there are.
func (c *command) asked(w *workspace.Workspace, found discovery.Plan, name string) ([]*discovery.Candidate, error) {
	if name == "" {
		return found.Candidates, nil
	}
	about := found.Lookup(asPath(w, name))
	if len(about) == 0 {
		return nil, &install.NotFoundError{Name: name}
	}
	for _, other := range about[1:] {
		if manifest.Fold(other.Name) != manifest.Fold(about[0].Name) {
			return nil, &install.AmbiguousError{Name: name, Candidates: about}
		}
	}
	return about, nil
}

// await waits until the start is over, as far as the report needs it, and
// watches what runs then for a while, or until none of it is left.
func (c *command) await(ctx context.Context, r *runcmd.Rehearsal, name string, about []*discovery.Candidate, watch time.Duration) {
	var names []string
	for _, candidate := range about {
		names = append(names, candidate.Name)
	}
	quiet, cancel := context.WithTimeout(ctx, quietWait)
	late := r.WaitReady(quiet, names...)
	cancel()
	if len(late) > 0 && ctx.Err() == nil {
		c.note("waiting for %s", strings.Join(late, ", "))
		r.WaitReady(ctx, names...)
	}
	if name != "" {
		others, cancel := context.WithTimeout(ctx, othersWait)
		r.WaitReady(others)
		cancel()
	}
	watching, cancel := context.WithTimeout(ctx, watch)
	defer cancel()
	r.WaitGone(watching, names...)
}

// A Status is the state of an extension in one word.
type status string

// The words of doctor.
const (
	statusOK       status = "ok"
	statusAuto     status = "auto-ready"
	statusLate     status = "ready-timeout"
	statusNotReady status = "not ready"
	statusWarning  status = "warning"
	statusError    status = "error"
	statusDisabled status = "disabled"
	statusShadowed status = "shadowed"
	statusHeld     status = "not loaded"
	statusTheme    status = "theme-only"
	statusSkill    status = "skill-only"
)

func (s status) wrong() bool {
	return slices.Contains([]status{statusLate, statusNotReady, statusWarning, statusError}, s)
}

// A diagnosis is what there is to say of one extension, and its form in JSON.
type diagnosis struct {
	Name          string             `json:"name"`
	Scope         discovery.Scope    `json:"scope"`
	Status        status             `json:"status"`
	Wrong         bool               `json:"wrong"`
	Dir           string             `json:"dir"`
	Version       string             `json:"version,omitempty"`
	Kind          manifest.Kind      `json:"kind,omitempty"`
	Transport     manifest.Transport `json:"transport,omitempty"`
	Exec          string             `json:"exec,omitempty"`
	Reason        string             `json:"reason,omitempty"` // why it is not loaded
	Remedy        string             `json:"remedy,omitempty"`
	ShadowedBy    string             `json:"shadowedBy,omitempty"` // folder of the one that is loaded
	Error         string             `json:"error,omitempty"`
	Faults        []schemas.Problem  `json:"faults,omitempty"` // of the manifest
	Log           string             `json:"log,omitempty"`
	StartMillis   *int64             `json:"startMs,omitempty"` // from its start until it was ready
	HelloName     string             `json:"helloName,omitempty"`
	Commands      []registration     `json:"commands,omitempty"`
	Tools         []registration     `json:"tools,omitempty"`
	Events        []string           `json:"events,omitempty"`
	Intercepts    []string           `json:"intercepts,omitempty"`
	Capabilities  []string           `json:"capabilities,omitempty"`
	Withheld      []string           `json:"withheld,omitempty"` // names of environment variables
	Module        *module            `json:"module,omitempty"`
	Unenforced    []string           `json:"unenforced,omitempty"`
	Warnings      []string           `json:"warnings,omitempty"`
	Notes         []string           `json:"notes,omitempty"`
	Refused       []gate.Refusal     `json:"refused,omitempty"` // by the policy, in this run and before
	faultText     string             // the faults with the lines that they are in
	alive         bool
	warningFaults bool // the faults do not keep it from loading
}

// A registration is a command or tool. By is who has the name where it is not
// active: an extension, or "zot".
type registration struct {
	Name     string `json:"name"`
	Active   bool   `json:"active"`
	By       string `json:"by,omitempty"`
	Deferred bool   `json:"deferred,omitempty"`
}

// A report is what doctor found.
type report struct {
	Extensions []diagnosis `json:"extensions"`
	Problems   []string    `json:"problems,omitempty"` // that belong to no extension
	Notes      []string    `json:"notes,omitempty"`    // likewise, where nothing is wrong
	Wrong      int         `json:"wrong"`
}

func (d *diagnosis) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}
