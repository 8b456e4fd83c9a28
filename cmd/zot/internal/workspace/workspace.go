// Package workspace answers where a command works: the folder, its project,
// zot's home, and the settings that hold there.
package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// Options are what a command knows of it from its flags.
type Options struct {
	CWD   string // --cwd; empty takes the process's own
	Home  string // --home; empty looks further
	Trust bool   // --trust: this project's settings hold for this run
	Flags []config.Override
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
}

// Open finds the place and reads its settings. Nothing is created.
func Open(o Options) (*Workspace, error) {
	w, err := locate(o)
	if err != nil {
		return nil, err
	}
	w.Settings, err = config.Load(w.configOptions(o))
	return w, err
}

// locate finds the place.
func locate(o Options) (*Workspace, error) {
	w := &Workspace{Environ: os.Environ(), Trusted: o.Trust}
	w.UserHome, _ = os.UserHomeDir()
	if err := w.enter(o.CWD); err != nil {
		return nil, err
	}
	w.ProjectRoot = home.ProjectRoot(w.CWD, w.UserHome)
	var err error
	w.Home, w.HomeOrigin, err = home.Resolve(home.Options{
		Flag: o.Home, Getenv: os.LookupEnv, GOOS: runtime.GOOS, UserHome: w.UserHome, ProjectRoot: w.ProjectRoot,
	})
	return w, err
}

func (w *Workspace) configOptions(o Options) config.Options {
	return config.Options{
		Home: w.Home, ManagedDir: home.ManagedDir(), ProjectRoot: w.ProjectRoot, ProjectTrusted: o.Trust,
		ProjectID: discovery.ProjectID(w.ProjectRoot), Environ: w.Environ, Flags: o.Flags,
		UserHome: w.UserHome, CWD: w.CWD,
	}
}

// ConfigOptions says where settings are looked for.
func ConfigOptions(o Options) (config.Options, error) {
	w, err := locate(o)
	if err != nil {
		return config.Options{}, err
	}
	return w.configOptions(o), nil
}

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
	case err != nil:
		return fmt.Errorf("--cwd: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--cwd %q is not a folder", abs)
	}
	w.CWD = abs
	return nil
}

// Complain prints the faults of the settings, each with its place and remedy.
// What is right next to them holds all the same.
func (w *Workspace) Complain(to io.Writer) {
	for _, p := range w.Settings.Problems {
		fmt.Fprintln(to, "zot: "+p.Error())
	}
}

// Extensions finds every extension there is, with those named by --ext first.
func (w *Workspace) Extensions(explicit []string, noDiscovery bool, version string) (discovery.Plan, error) {
	c := w.Settings.Config.Extensions
	o := discovery.Options{
		Explicit: explicit, CWD: w.CWD, NoDiscovery: noDiscovery || !c.Enabled, ZotVersion: version,
		ExtraDirs: c.Dirs, Hold: w.hold,
	}
	if c.Project {
		o.ProjectDir = w.ProjectRoot
	}
	if c.Global {
		o.Home = w.Home.Dir()
	}
	switches, err := discovery.ReadSwitches(w.Home.Dir(), w.ProjectRoot)
	o.Switches = switches
	return discovery.Find(o), err
}

// hold keeps back what the project brings and its user has not agreed to, and
// what the settings switch off.
func (w *Workspace) hold(c *discovery.Candidate) string {
	if slices.Contains(w.Settings.Config.Extensions.Disabled, c.Name) && c.Scope != discovery.ScopeFlag {
		return "switched off by extensions.disabled in the settings"
	}
	if c.Scope == discovery.ScopeProject && !w.Trusted {
		return "this project is not trusted; --trust trusts it for one run"
	}
	return ""
}
