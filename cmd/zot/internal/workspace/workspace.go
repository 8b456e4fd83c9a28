// Package workspace answers where a command works: the folder, its project,
// zot's home, and the settings that hold there.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/cmd/zot/internal/confinement"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// Options are what a command knows of it from its flags.
type Options struct {
	CWD   string // --cwd; empty takes the process's own
	Home  string // --home; empty looks further
	Trust bool   // --trust: this project is trusted for this run
	// Session is what was agreed to of the project for this run; or nil.
	Session *trust.Record
	// Agreed are the extensions that their user has load for this run; see
	// gate.Options.
	Agreed map[string]string
	// Headless says that nobody can be asked.
	Headless bool
	// PolicyMode is the mode that a flag names; or empty.
	PolicyMode string
	Flags      []config.Override
}

// A Workspace is a place to work.
type Workspace struct {
	CWD         string // absolute
	ProjectRoot string
	UserHome    string
	Home        home.Home
	HomeOrigin  home.Origin
	Trusted     bool
	Settings    *config.Settings
	Environ     []string

	opts     Options
	trust    *gate.Gate // as the settings were read
	approved bool       // the project's preferences hold

	mu     sync.Mutex
	opened *gate.Gate // of the reading of the settings, not used yet
	judged *judgement // the latest
}

// A judgement is an answer of Judge, and to what.
type judgement struct {
	explicit    []string
	noDiscovery bool
	version     string
	plan        discovery.Plan
	gate        *gate.Gate
	err         error
}

// Open finds the place and reads its settings. Nothing is created. What a
// project prefers holds only where its user approved of it.
func Open(o Options) (*Workspace, error) {
	w, err := locate(o)
	if err != nil {
		return nil, err
	}
	return w, w.load(o)
}

// load reads the settings: without the project's preferences first, since
// whether it is trusted depends on the rest.
func (w *Workspace) load(o Options) error {
	w.opts = o // nobody else has it yet
	var err error
	if w.Settings, err = config.Load(w.configOptions(false)); err != nil {
		return err
	}
	g := gate.Open(w.gateOptions())
	w.Trusted, w.trust = g.Trusted, g
	if w.approved = g.SettingsTrusted(); w.approved {
		if w.Settings, err = config.Load(w.configOptions(true)); err == nil {
			g.Reread(w.Settings)
		}
	}
	w.mu.Lock()
	w.opened, w.judged = g, nil
	w.mu.Unlock()
	return err
}

func (w *Workspace) gateOptions() gate.Options {
	return gate.Options{
		Home: w.Home, ProjectRoot: w.ProjectRoot, CWD: w.CWD, UserHome: w.UserHome, Settings: w.Settings,
		Environ: w.Environ, Mode: w.opts.PolicyMode, Headless: w.opts.Headless, Trust: w.opts.Trust, Session: w.opts.Session, Agreed: w.opts.Agreed, Unenforced: Unenforced, Enforced: Enforced,
	}
}

// Again is the same place with everything read anew: settings, policies, locks
// and what was approved. The old one stays as it is, for those who use it.
func (w *Workspace) Again() (*Workspace, error) {
	w.mu.Lock()
	o := w.opts
	w.mu.Unlock()
	fresh := &Workspace{
		CWD: w.CWD, ProjectRoot: w.ProjectRoot, UserHome: w.UserHome, Home: w.Home, HomeOrigin: w.HomeOrigin, Environ: w.Environ,
	}
	return fresh, fresh.load(o)
}

// Agree has every later [Workspace.Again] go by what was agreed to for this run;
// with nil, by what is remembered.
func (w *Workspace) Agree(r *trust.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opts.Trust, w.opts.Session = false, r
}

// AgreeToLoad has every later [Workspace.Again] load what is in a folder, as long
// as it has this mark.
func (w *Workspace) AgreeToLoad(dir, mark string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	agreed := maps.Clone(w.opts.Agreed) // others may have the one that was
	if agreed == nil {
		agreed = map[string]string{}
	}
	agreed[dir] = mark
	w.opts.Agreed = agreed
}

// Vouches tells whether a file of the project may be acted on, with all that lies
// in its folder where it is more than a file by itself: its user approved of it
// as it was when the place was read.
func (w *Workspace) Vouches(file string, withFolder bool) bool {
	return w.trust.Vouches(file, withFolder)
}

// Unpinned says what the project would tell the model that cannot be pinned to its
// bytes and so is not used, one thing each.
func (w *Workspace) Unpinned() []string {
	if w.trust.Bundle == nil {
		return nil
	}
	return w.trust.Bundle.Skipped
}

// Pins tells whether a file of the project is one whose bytes its user could
// approve.
func (w *Workspace) Pins(file string) bool {
	return w.trust.Pins(file)
}

// locate finds the place.
func locate(o Options) (*Workspace, error) {
	w := &Workspace{Environ: os.Environ(), opts: o}
	w.UserHome, _ = os.UserHomeDir()
	if err := w.enter(o.CWD); err != nil {
		return nil, err
	}
	w.ProjectRoot = home.ProjectRoot(w.CWD, w.UserHome)
	// What is wrong with the administrator's file is said when settings are read.
	managed, from, _ := config.ManagedHome(ManagedDir(), managedOwner)
	var err error
	w.Home, w.HomeOrigin, err = home.Resolve(home.Options{
		Flag: o.Home, Getenv: os.LookupEnv, Managed: managed, ManagedFrom: from,
		GOOS: runtime.GOOS, UserHome: w.UserHome, ProjectRoot: w.ProjectRoot,
	})
	return w, err
}

func (w *Workspace) configOptions(trusted bool) config.Options {
	return config.Options{
		Home: w.Home, ManagedDir: ManagedDir(), CheckOwner: managedOwner, ProjectRoot: w.ProjectRoot, ProjectTrusted: trusted,
		ProjectID: discovery.ProjectID(w.ProjectRoot), Environ: w.Environ, Flags: w.opts.Flags,
		UserHome: w.UserHome, CWD: w.CWD,
	}
}

// ConfigOptions says where settings are looked for, and whether the project's
// preferences hold.
func ConfigOptions(o Options) (config.Options, error) {
	w, err := Open(o)
	if err != nil {
		return config.Options{}, err
	}
	return w.ConfigOptions(), nil
}

// ConfigOptions says where the settings of this place are looked for.
func (w *Workspace) ConfigOptions() config.Options { return w.configOptions(w.approved) }

// enter settles the working folder.
func (w *Workspace) enter(cwd string) error {
	if cwd == "" {
		var err error
		w.CWD, err = os.Getwd()
		return err
	}
	abs, err := filepath.Abs(home.Expand(cwd, w.UserHome))
	if err != nil {
		return err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--cwd %q: there is no such folder; make it, or name the folder to work in", abs)
	case err != nil:
		return fmt.Errorf("--cwd %q: %w", abs, err)
	case !info.IsDir():
		return fmt.Errorf("--cwd %q is a file; name the folder to work in", abs)
	}
	w.CWD = abs
	return nil
}

// Path is the absolute path of a file that was named by the user.
func (w *Workspace) Path(name string) string {
	name = home.Expand(name, w.UserHome)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.CWD, name)
}

// Complain prints the faults of the settings, each with its place and remedy.
// What is right next to them holds all the same.
func (w *Workspace) Complain(to io.Writer) {
	for _, p := range w.Settings.Problems {
		fmt.Fprintln(to, "zot: "+p.Error())
	}
}

// Extensions finds every extension there is, with those named by --ext first,
// and says of each what becomes of it.
func (w *Workspace) Extensions(explicit []string, noDiscovery bool, version string) (discovery.Plan, error) {
	plan, _, err := w.Judge(explicit, noDiscovery, version)
	return plan, err
}

// Stamp changes when a file that decides about extensions has changed: settings,
// locks, switches and approvals.
func (w *Workspace) Stamp() string {
	var b strings.Builder
	look := func(path string) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d %d %v\n", info.ModTime().UnixNano(), info.Size(), info.Mode())
		} else {
			b.WriteString("-\n")
		}
	}
	for _, f := range w.Settings.Files {
		look(filepath.Join(filepath.Dir(f.Path), "config.json"))
		look(filepath.Join(filepath.Dir(f.Path), "config.yaml"))
	}
	look(w.Home.TrustFile())
	look(w.Home.LockFile())
	look(home.ProjectLockFile(w.ProjectRoot))
	return b.String()
}

// Judge finds every extension and brings the policy to them. The gate answers
// for each what it may do; it is there even with an error. Asked the same again
// it gives the same answer: what changed since is seen by [Workspace.Again].
func (w *Workspace) Judge(explicit []string, noDiscovery bool, version string) (discovery.Plan, *gate.Gate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.judged
	if j == nil || !slices.Equal(j.explicit, explicit) || j.noDiscovery != noDiscovery || j.version != version {
		j = &judgement{explicit: explicit, noDiscovery: noDiscovery, version: version}
		j.plan, j.gate, j.err = w.judge(explicit, noDiscovery, version)
		w.judged = j
	}
	return j.plan, j.gate, j.err
}

func (w *Workspace) judge(explicit []string, noDiscovery bool, version string) (discovery.Plan, *gate.Gate, error) {
	c := w.Settings.Config.Extensions
	o := discovery.Options{
		Explicit: explicit, CWD: w.CWD, NoDiscovery: noDiscovery || !c.Enabled, ZotVersion: version,
		ExtraDirs: c.Dirs,
	}
	g := w.opened
	if w.opened = nil; g == nil {
		g = gate.Open(w.gateOptions())
	}
	if c.Project {
		o.ProjectDir, o.Pinned = w.ProjectRoot, g.Pinned()
	}
	if c.Global {
		o.Home = w.Home.Dir()
	}
	switches, err := discovery.ReadSwitches(w.Home.Dir(), w.ProjectRoot)
	o.Switches = switches
	found := discovery.Find(o)
	g.Judge(found.Candidates)
	if r := g.AsItIs(); r != nil { // what the project becomes while zot runs was not agreed to
		w.opts.Trust, w.opts.Session = false, r
	}
	mode, _ := g.Set.Mode()
	o.NoLinks = mode > policies.Open
	o.Hold = func(c *discovery.Candidate) string { return w.hold(g, c) }
	found.Settle(o)
	return found, g, err
}

// hold keeps back what the settings switch off, and what the policy or missing
// trust do not let load.
func (w *Workspace) hold(g *gate.Gate, c *discovery.Candidate) string {
	if why := w.SwitchedOff(c); why != "" {
		return why
	}
	return g.Hold(c)
}

// Unenforced lists what this system cannot hold an extension to that has these
// rights.
func Unenforced(c *discovery.Candidate, rights *policies.Grant) []string {
	return confinement.Missing(c.Manifest, rights)
}

// Enforced lists what this system holds such an extension to.
func Enforced(c *discovery.Candidate, rights *policies.Grant) []string {
	return confinement.Standing(c.Manifest, rights)
}
