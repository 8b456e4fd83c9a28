//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Supported says which walls could stand here.
func Supported() Report {
	var r Report
	plan(&r)
	return r
}

// plan finds out what there is, and the version of Landlock.
func plan(r *Report) (landlockABI int, seccomp bool) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		abi = 0
		r.missing(Files, "Landlock is not in this kernel, or not enabled")
	} else {
		r.stands(Files)
	}
	if err := seccompThere(); err != nil {
		r.missing(Network, err.Error())
		r.missing(Processes, err.Error())
		r.missing(Privileges, err.Error())
	} else {
		seccomp = true
		r.stands(Network)
		r.stands(Processes)
		r.stands(Privileges)
	}
	r.stands(Limits)
	return abi, seccomp
}

// seccompThere asks whether filters can be set, without setting one: the
// kernel looks at the address only after it has found the feature.
func seccompThere() error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, 0)
	if errno == unix.EFAULT {
		return nil
	}
	return errors.New("seccomp filters are not in this kernel")
}

// Self confines this process. An error means that a wall which could stand
// does not, and that the process may be confined in part: it should end.
func Self(p Policy) (Report, error) {
	var r Report
	abi, seccomp := plan(&r)
	if p.OnlyFiles {
		return onlyFiles(p, abi, r)
	}
	if err := setLimits(p); err != nil {
		return r, fmt.Errorf("limits: %w", err)
	}
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return r, fmt.Errorf("no new privileges: %w", err)
	}
	if abi > 0 {
		if err := restrictFiles(p, abi); err != nil {
			return r, fmt.Errorf("files: %w", err)
		}
	}
	if err := dropCapabilities(0); err != nil {
		return r, fmt.Errorf("capabilities: %w", err)
	}
	if seccomp {
		if err := install(filter(p)); err != nil {
			return r, fmt.Errorf("seccomp: %w", err)
		}
	}
	return r, nil
}

// onlyFiles puts up one wall of those that could stand.
func onlyFiles(p Policy, abi int, could Report) (Report, error) {
	var r Report
	if abi == 0 {
		r.missing(Files, could.Unenforced[Files])
		return r, nil
	}
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return r, fmt.Errorf("no new privileges: %w", err)
	}
	if err := restrictFiles(p, abi); err != nil {
		return r, fmt.Errorf("files: %w", err)
	}
	// With more the superuser would read other processes' memory, and with it
	// what is in their files.
	if err := dropCapabilities(harmless); err != nil {
		return r, fmt.Errorf("capabilities: %w", err)
	}
	r.stands(Files)
	return r, nil
}

// setLimits bounds memory by RLIMIT_DATA: RLIMIT_AS would count address space
// that programs reserve and never use.
func setLimits(p Policy) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if p.DataLimit > 0 {
		limits[unix.RLIMIT_DATA] = p.DataLimit
	}
	if p.FileLimit > 0 {
		limits[unix.RLIMIT_NOFILE] = p.FileLimit
	}
	for resource, most := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// restrictFiles applies all that this version of Landlock can restrict, to all
// threads.
func restrictFiles(p Policy, abi int) error {
	all := []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
		landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}
	config := all[min(abi, len(all))-1]
	var rules []landlock.Rule
	for _, path := range p.Read {
		rule, err := fileRule(path, landlock.RODirs, landlock.ROFiles)
		if err != nil {
			return err
		}
		rules = append(rules, rule)
	}
	for _, path := range p.Write {
		rule, err := fileRule(path, func(paths ...string) landlock.FSRule {
			if abi < 2 {
				return landlock.RWDirs(paths...)
			}
			return landlock.RWDirs(paths...).WithRefer() // to move a file from one folder to another
		}, landlock.RWFiles)
		if err != nil {
			return err
		}
		rules = append(rules, rule)
	}
	if p.OnlyFiles || p.Network {
		return config.RestrictPaths(rules...)
	}
	if abi >= 4 {
		for _, port := range p.TCP {
			rules = append(rules, landlock.ConnectTCP(port))
		}
	}
	return config.Restrict(rules...)
}

// fileRule chooses by what the path is: the rights of a folder on a file are
// an error of Landlock's.
func fileRule(path string, dir, file func(...string) landlock.FSRule) (landlock.FSRule, error) {
	info, err := os.Stat(path)
	if err != nil {
		return landlock.FSRule{}, err
	}
	if info.IsDir() {
		return dir(path), nil
	}
	return file(path), nil
}

// harmless are the capabilities by which the superuser works on files of other
// users, as in a container, and starts programs for them.
const harmless = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE

// dropCapabilities takes all but those in keep from all threads. Without any
// the superuser keeps the rights of a file's owner, and no more.
func dropCapabilities(keep uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, want [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	want[0].Permitted, want[0].Effective = have[0].Permitted&keep, have[0].Effective&keep
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&want[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func replaceSelf(program string, argv []string) error {
	return fmt.Errorf("%q cannot be executed: %w", program, syscall.Exec(program, argv, os.Environ()))
}
