// Package confinement turns what a policy grants an extension into the walls
// that this system can put around it: a sandbox for a WebAssembly module, and
// for a process whose rights were narrowed what the operating system has.
package confinement

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/wasi"
)

// Missing lists what of its bounds this system cannot hold an extension to that
// has these rights; nil where there are none, or all hold.
func Missing(m *manifest.Manifest, rights *policies.Grant) []string {
	if m == nil || m.Transport != manifest.Subprocess || m.Exec == "" || !Narrowed(rights) {
		return nil // a module is held by its sandbox; a process without bounds has none to hold
	}
	var missing []string
	for wall, cause := range confine.Supported().Unenforced {
		missing = append(missing, string(wall)+": "+cause)
	}
	if cause := confine.ShieldMissing; len(rights.FSDeny) > 0 && cause() != "" {
		missing = append(missing, "fs.deny: "+cause())
	}
	if len(rights.NetConnect) > 0 {
		missing = append(missing, "net.connect: a process can be held to ports, not to hosts")
	}
	if len(rights.ExecRun) > 0 {
		missing = append(missing, "exec.run: a process can be kept from starting programs, not to some of them")
	}
	slices.Sort(missing)
	return missing
}

// Standing lists the walls around an extension that has these rights.
func Standing(m *manifest.Manifest, rights *policies.Grant) []string {
	switch {
	case m == nil || m.Exec == "":
		return nil
	case m.Transport == manifest.WASI:
		return []string{"protocol", "sandbox"}
	case !Narrowed(rights):
		return []string{"protocol"}
	}
	out := []string{"protocol"}
	for _, wall := range confine.Supported().Enforced {
		out = append(out, string(wall))
	}
	return out
}

// everything is how a grant writes that nothing was kept back of what has no end.
const everything = "*"

// Environ narrows an environment to what was granted: without a grant of all,
// the names that were granted, and for a process what any program needs to run;
// names of credentials only where they were granted as such.
func Environ(full []string, g *policies.Grant, module bool, secret func(name string) bool) (env []string, secrets []string) {
	for _, kv := range full {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case secret(name):
			if slices.Contains(g.EnvSecrets, name) {
				env, secrets = append(env, kv), append(secrets, name)
			}
		case g.All, slices.Contains(g.EnvPass, name), slices.Contains(g.EnvPass, everything), slices.Contains(g.EnvSecrets, name), !module && needed(name):
			env = append(env, kv)
		}
	}
	return env, secrets
}

// needed reports whether a program cannot be expected to run without the
// variable.
func needed(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec", "PATHEXT", "USERPROFILE":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// Narrowed reports whether a process is to be confined: its rights on files,
// network or programs are fewer than its user's.
func Narrowed(g *policies.Grant) bool { return g != nil && !g.All }

// Process changes what is started so that a program runs with what was granted.
// o.Dir is the extension's folder, which it may read. Walls that cannot stand
// here are left out, unless strict: Missing has listed them, and the mode
// decided.
func Process(g *policies.Grant, o *subprocess.Options, keep Keep, strict bool) error {
	walls := confine.Supported()
	switch {
	case strict && !walls.Complete():
		return fmt.Errorf("%s: it must be confined, and this system cannot: %v", policies.CodeCannotEnforce, walls)
	case len(walls.Enforced) == 0:
		return nil
	}
	// What cannot start says so itself, and not in the words of the wall.
	if err := subprocess.Check(*o); err != nil {
		return err
	}
	p := confine.Policy{
		Exec: true, Partly: !strict, Write: existing(append(slices.Clone(g.FSWrite), devices...)),
		FileLimit: uint64(g.Limits.OpenFiles), DataLimit: uint64(g.Limits.Memory),
	}
	p.Read = append(append(existing(g.FSRead), systemDirs(o.Path)...), o.Dir)
	for _, host := range g.NetConnect {
		p.Network = p.Network || host == "*:*"
		if port, ok := portOf(host); ok && !slices.Contains(p.TCP, port) {
			p.TCP = append(p.TCP, port)
		}
	}
	if s := keep.shield(g); s != nil {
		p.Shield, o.Prepare = s, s.Prepare
	}
	var err error
	o.Path, o.Args, err = confine.Command(p, o.Path, o.Args)
	return err
}

func portOf(hostport string) (uint16, bool) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 {
		return 0, false
	}
	var n uint64
	for _, r := range hostport[i+1:] {
		if r < '0' || r > '9' || n > 65535 {
			return 0, false
		}
		n = n*10 + uint64(r-'0')
	}
	return uint16(n), n > 0 && n <= 65535
}

// systemDirs are what programs read in order to run at all: libraries, the
// interpreter and what belongs to it, certificates and time zones.
func systemDirs(program string) []string {
	dirs := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/dev", "/proc", "/sys/devices/system/cpu", "/nix/store"}
	dirs = append(dirs, program)
	if real, err := filepath.EvalSymlinks(program); err == nil {
		dirs = append(dirs, real)
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	return existing(dirs)
}

func existing(paths []string) []string {
	var out []string
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil && filepath.IsAbs(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Mounts are the folders a module finds, at the paths the host knows them by.
// What is not there, or no folder, is not mounted. Its own folder, keep.Data,
// holds no more than the policy lets it.
func Mounts(g *policies.Grant, keep Keep, limits policies.Limits) []wasi.Mount {
	if g.All {
		return nil // all is never granted to a module: it says what it needs
	}
	var mounts []wasi.Mount
	add := func(dir string, readOnly bool) {
		m := wasi.Mount{Host: dir, Guest: GuestPath(dir), ReadOnly: readOnly || keep.fixes(dir), Fixed: keep.inside(dir)}
		if filepath.Clean(dir) == filepath.Clean(keep.Data) {
			m.Most = limits.DataDir
		}
		if m.Closed = below(dir, g.FSDeny); !slices.Contains(m.Closed, ".") {
			mounts = append(mounts, m)
		}
	}
	for _, dir := range folders(g.FSWrite) {
		add(dir, false)
	}
	for _, dir := range folders(g.FSRead) {
		if !slices.Contains(g.FSWrite, dir) {
			add(dir, true)
		}
	}
	return mounts
}

func folders(paths []string) []string {
	return slices.DeleteFunc(existing(paths), func(p string) bool {
		info, err := os.Stat(p)
		return err != nil || !info.IsDir()
	})
}

// GuestPath is where a module finds a folder: its own path, with slashes, and
// one in front of a drive.
func GuestPath(dir string) string {
	p := filepath.ToSlash(dir)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return p
}

// Covers reports whether a grant on files reaches into dir, which has to be
// there then.
func Covers(g *policies.Grant, dir string) bool {
	return !g.All && slices.Contains(slices.Concat(g.FSRead, g.FSWrite), filepath.ToSlash(dir))
}

// Pages is a module's memory limit in the unit of WebAssembly.
func Pages(l policies.Limits) uint32 {
	pages := l.Memory / wasi.PageSize
	return uint32(min(pages, 65536))
}
