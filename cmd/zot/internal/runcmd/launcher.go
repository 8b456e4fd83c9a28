package runcmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/cmd/zot/internal/confinement"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/wasi"
)

// A launcher starts one extension the way its manifest says, with what the
// policy grants it.
type launcher struct {
	p       *planner
	w       *workspace.Workspace
	m       *manifest.Manifest
	dir     string // where the code is
	data    string // the folder that ${data} stands for
	bound   *policies.Bound
	gate    *gate.Gate
	granted *policies.Grant
	reach   *policies.Grant // what of it concerns the system
	env     []string
	pinned  bool // it runs from the store
	// stateElsewhere says that its state is in data, and not where it lies.
	stateElsewhere bool
}

func (p *planner) launcher(c *discovery.Candidate, g *gate.Gate) *launcher {
	return &launcher{
		p: p, w: p.workspace(), m: c.Manifest, dir: c.Dir, bound: g.Bound(c), gate: g, data: g.DataDir(c), pinned: g.FromStore(c),
	}
}

// prepare fills in what an entry says of the extension before it starts.
func (l *launcher) prepare(e *extension.Entry, inOwnFolder bool) {
	l.granted = &policies.Grant{All: true}
	if l.bound != nil {
		l.granted = l.bound.Granted()
	}
	l.reach = l.granted
	if l.bound != nil && !l.isModule() {
		l.reach = l.bound.Reach()
	}
	if l.isModule() && l.granted.All {
		l.granted = policies.ProtocolRights()
		l.reach = l.granted // a module has what it asks for, and never all
	}
	// What has every right is bounded by nothing, unless its silence refuses.
	if l.bound != nil && (!l.granted.All || l.limited() || l.bound.FailsClosed(extproto.EventToolCall) || l.m.Contributes.Declared) {
		e.Rights = l.bound
	}
	if !inOwnFolder || !l.reach.All {
		// What is pinned must not change, and one without all rights cannot
		// write where it lies: its state lives elsewhere.
		e.DataDir, l.stateElsewhere = l.data, !inOwnFolder
	}
	if l.pinned {
		e.RunDir, _ = l.store().Path(l.bound.Subject().Digest) // a digest that was judged has its form
	}
	if l.isModule() {
		e.DataDir = confinement.GuestPath(e.DataDir)
	}
	full, _ := extension.Environ(l.w.Environ, nil, l.m.Env, l.m.Name, l.w.CWD)
	env, secrets := confinement.Environ(full, l.reach, l.isModule(), l.secret)
	l.env = l.withOwn(env)
	for _, name := range secrets {
		_ = l.gate.Record(l.m.Name, policies.EnvSecrets, name, l.bound.Use(policies.EnvSecrets, name))
	}
	_, e.Withheld = extension.Environ(l.w.Environ, namesWithout(l.p.withhold, secrets), nil, l.m.Name, "")
}

func (l *launcher) isModule() bool { return l.m.Transport == manifest.WASI }

func (l *launcher) secret(name string) bool { return slices.Contains(l.p.withhold, name) }

// namesWithout are the names of all that are not in taken.
func namesWithout(all, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(n string) bool { return slices.Contains(taken, n) })
}

// withOwn adds what every extension gets: what its manifest sets, and zot's
// own two.
func (l *launcher) withOwn(env []string) []string {
	own, _ := extension.Environ(nil, nil, l.m.Env, l.m.Name, l.w.CWD)
	for _, kv := range own {
		if !slices.Contains(env, kv) {
			env = append(env, kv)
		}
	}
	return env
}

// launch starts the extension.
func (l *launcher) launch(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
	dir := l.dir
	if l.pinned {
		var err error
		if dir, err = l.fromStore(); err != nil {
			return nil, err
		}
	}
	if l.stateElsewhere || confinement.Covers(l.reach, l.data) {
		if err := home.EnsureDir(l.data); err != nil {
			return nil, err
		}
	}
	if l.isModule() {
		// Nobody has modules in PATH: a bare name is one in the folder.
		return l.module(ctx, filepath.Join(dir, filepath.FromSlash(l.m.Exec)), stderr)
	}
	path, err := subprocess.Resolve(dir, l.m.Exec)
	if err != nil {
		return nil, err
	}
	return l.process(ctx, path, dir, stderr)
}

// strict tells whether it must not run without the walls that its rights call
// for.
func (l *launcher) strict() bool {
	mode, _ := l.gate.Set.Mode()
	return mode == policies.Locked || l.gate.Set.Enforce() == policies.EnforceRequire
}

// isolation is where modules run.
func (p *planner) isolation() wasi.Isolation {
	return wasi.Isolation(p.workspace().Settings.Config.Extensions.Isolation)
}

// fromStore puts the code into the store and returns the folder in it, whose
// bytes are those that the policy judged.
func (l *launcher) fromStore() (string, error) {
	digest, _, err := l.store().Put(l.dir)
	if err != nil {
		return "", err
	}
	if want := l.bound.Subject().Digest; digest != want {
		return "", fmt.Errorf("%s changed while it was being started: its digest is %s and was %s", l.dir, digest, want)
	}
	return l.store().Open(digest)
}

func (l *launcher) store() lock.Store { return lock.Store{Dir: l.w.Home.StoreDir()} }

// limited tells whether anybody, its manifest among them, names limits for the
// extension.
func (l *launcher) limited() bool { return l.bound.NamedLimits() != policies.Limits{} }

func (l *launcher) maxFrame() int {
	most := int(l.w.Settings.Config.Limits.Frame)
	if l.bound != nil && (!l.granted.All || l.limited()) {
		most = min(most, int(l.bound.Limits().Frame))
	}
	return most
}

// keep is what none of its rights on files reaches.
func (l *launcher) keep() confinement.Keep {
	return confinement.Keep{Project: l.w.ProjectRoot, Home: l.w.Home, Data: l.data}
}

func (l *launcher) process(ctx context.Context, path, dir string, stderr io.Writer) (transports.Conn, error) {
	o := subprocess.Options{Path: path, Args: l.m.Args, Dir: dir, Env: l.env, Stderr: stderr, MaxFrame: l.maxFrame()}
	if confinement.Narrowed(l.reach) {
		if err := confinement.Process(l.reach, &o, l.keep(), l.strict()); err != nil {
			return nil, err
		}
	}
	conn, err := subprocess.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func (l *launcher) module(ctx context.Context, path string, stderr io.Writer) (transports.Conn, error) {
	limits := policies.Limits{}.WithDefaults()
	if l.bound != nil {
		limits = l.bound.Limits()
	}
	conn, err := wasi.Start(ctx, wasi.Options{
		Path: path, Name: l.m.Name, Args: l.m.Args, Env: l.env,
		Mounts:   confinement.Mounts(l.reach, l.keep(), limits),
		MemPages: confinement.Pages(limits), CallMax: limits.CPUPerCall, StartMax: limits.Startup, OpenFiles: int(limits.OpenFiles),
		Isolation: l.p.isolation(),
		Cache:     l.w.Home.ModuleCache(), Stderr: stderr, MaxFrame: l.maxFrame(),
		RequireConfinement: l.strict(),
	})
	if err != nil {
		return nil, err
	}
	return conn, nil
}
