//go:build linux && (amd64 || arm64)

package confine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canShield = true

// Prepare gives the process mounts of its own: those of the superuser as they
// are, others in a user namespace where they are who they were.
func (Shield) Prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= unix.CLONE_NEWNS
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // of that namespace, to mount; given up in dropUndoing
	}
}

// raise makes the folders read-only in this process's mounts, and takes from it
// what could undo that. It runs in the process that [Shield.Prepare] prepared.
func (s Shield) raise() error {
	runtime.LockOSThread() // for good: this thread turns into the program
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working folder: %w", err)
	}
	// Nothing of this reaches the mounts that it was copied from.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("parting from the system's mounts: %w", err)
	}
	keep, but := existing(s.Keep), existing(s.But)
	for _, dir := range append(keep, but...) {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting %q: %w", dir, err)
		}
	}
	for _, dir := range keep {
		if err := readOnly(dir); err != nil {
			return fmt.Errorf("making %q read-only: %w", dir, err)
		}
	}
	for _, path := range existing(s.Hide) {
		if err := hide(path); err != nil {
			return fmt.Errorf("hiding %q: %w", path, err)
		}
	}
	// The working folder is still that of the mounts of before.
	if err := os.Chdir(cwd); err != nil {
		return fmt.Errorf("the working folder: %w", err)
	}
	return dropUndoing()
}

// existing are the real folders of those that are there.
func existing(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// hide puts an empty folder, or an empty file, in the place of one.
func hide(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return unix.Mount(os.DevNull, path, "", unix.MS_BIND, "")
	}
	return unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=555")
}

// readOnly changes a mount of this process. What the mount was restricted to
// already it must go on being, or the kernel refuses.
func readOnly(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	flags := uintptr(unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY)
	for have, keep := range map[int64]uintptr{
		unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
		unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_NODIRATIME: unix.MS_NODIRATIME, unix.ST_RELATIME: unix.MS_RELATIME,
	} {
		if int64(st.Flags)&have != 0 {
			flags |= keep
		}
	}
	return unix.Mount("", dir, "", flags, "")
}

// undoing are the capabilities by which the superuser could mount again, or
// reach the files through a process that has not parted from the mounts. Others
// lose all of theirs when the program starts, once nothing keeps them.
var undoing = []uint{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO}

func dropUndoing() error {
	if os.Geteuid() != 0 {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
		return nil
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	for _, c := range undoing {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
		set := &sets[c/32]
		set.Effective, set.Permitted, set.Inheritable = set.Effective&^(1<<(c%32)), set.Permitted&^(1<<(c%32)), set.Inheritable&^(1<<(c%32))
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets[0])), 0); errno != 0 {
		return fmt.Errorf("capabilities: %w", errno)
	}
	return nil
}
