//go:build linux && (amd64 || arm64)

package confine

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in what a filter sees of a system call (struct seccomp_data).
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// Answers of a filter.
const (
	answerAllow = unix.SECCOMP_RET_ALLOW
	answerKill  = unix.SECCOMP_RET_KILL_PROCESS
	answerEPERM = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// answerENOSYS makes a library take an older call in its place.
	answerENOSYS = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	answerNoProt = unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)
)

// never are calls that reach into the kernel, other processes or the mounts;
// most need a capability as well, some do only on some systems.
var never = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_VHANGUP,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}, neverHere...)

// absent are calls that are said not to exist: what they can do cannot be seen
// in their arguments.
var absent = []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

const (
	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	ioctlTIOCSTI   = 0x5412 // types into the terminal
	ioctlTIOCLINUX = 0x541c // and so does this, on a console
)

// filter makes the program that looks at every system call.
func filter(p Policy) []unix.SockFilter {
	var f program
	f.load(offsetArch)
	f.unless(auditArch, answerKill) // numbers mean something else there
	f.load(offsetNumber)
	f.refuseForeignNumbers()
	for _, number := range absent {
		f.when(number, answerENOSYS)
	}
	for _, number := range never {
		f.when(number, answerEPERM)
	}
	f.ioctls()
	f.sockets(p)
	f.processes(p)
	f.answer(answerAllow)
	return f
}

func (f *program) ioctls() {
	f.block(unix.SYS_IOCTL, func(b *program) {
		b.load(argument(1))
		b.when(ioctlTIOCSTI, answerEPERM)
		b.when(ioctlTIOCLINUX, answerEPERM)
		b.answer(answerAllow)
	})
}

// sockets leaves none, or streams of the internet protocols: Landlock knows
// the ports of TCP only, so that nothing that it does not look at may remain.
func (f *program) sockets(p Policy) {
	if p.Network {
		return
	}
	if len(p.TCP) == 0 {
		f.when(unix.SYS_SOCKET, answerEPERM)
		return
	}
	f.block(unix.SYS_SOCKET, func(b *program) {
		b.load(argument(0))
		b.unlessEither(unix.AF_INET, unix.AF_INET6, answerNoProt)
		b.load(argument(1))
		b.mask(0xf)
		b.unless(unix.SOCK_STREAM, answerNoProt)
		b.load(argument(2))
		b.unlessEither(0, unix.IPPROTO_TCP, answerNoProt)
		b.answer(answerAllow)
	})
}

// processes lets threads be started, and processes with Exec. Without it no
// other process is any of its business; with it they are its children, and
// Landlock bounds whom it may signal.
func (f *program) processes(p Policy) {
	f.block(unix.SYS_CLONE, func(b *program) {
		b.load(argument(0))
		b.whenAny(newNamespaces, answerEPERM)
		if !p.Exec {
			b.whenAny(unix.CLONE_THREAD, answerAllow)
			b.answer(answerEPERM)
		}
		b.answer(answerAllow)
	})
	if p.Exec {
		return
	}
	for _, number := range append([]uint32{
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_PIDFD_SEND_SIGNAL,
		unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	}, forksHere...) {
		f.when(number, answerEPERM)
	}
	f.block(unix.SYS_TGKILL, func(b *program) { // the Go runtime signals its own threads
		b.load(argument(0))
		b.unless(uint32(os.Getpid()), answerEPERM)
		b.answer(answerAllow)
	})
}

// argument is the offset of the low half of an argument, which on these
// processors comes first. All that are looked at are 32 bits wide.
func argument(n uint32) uint32 { return offsetArgs + 8*n }

// A program is a filter in the making. The system call's number is in the
// accumulator between its parts.
type program []unix.SockFilter

func (f *program) add(code uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (f *program) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (f *program) mask(bits uint32)   { f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, bits, 0, 0) }
func (f *program) answer(a uint32)    { f.add(unix.BPF_RET|unix.BPF_K, a, 0, 0) }

const (
	jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpAny   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	jumpFrom  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
)

// when answers where the accumulator is k.
func (f *program) when(k, a uint32) { f.add(jumpEqual, k, 0, 1); f.answer(a) }

// whenAny answers where the accumulator has any of those bits.
func (f *program) whenAny(bits, a uint32) { f.add(jumpAny, bits, 0, 1); f.answer(a) }

// unless answers where the accumulator is not k.
func (f *program) unless(k, a uint32) { f.add(jumpEqual, k, 1, 0); f.answer(a) }

// unlessEither answers where the accumulator is neither.
func (f *program) unlessEither(k, l, a uint32) {
	f.add(jumpEqual, k, 2, 0)
	f.unless(l, a)
}

// block is for one system call. It must end in an answer, since it loses the
// number.
func (f *program) block(number uint32, fill func(*program)) {
	var b program
	fill(&b)
	f.add(jumpEqual, number, 0, uint8(len(b)))
	*f = append(*f, b...)
}

// install sets the filter for all threads.
func install(f []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	// TSYNC returns the thread that could not follow, if any.
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return unix.EBUSY
	}
	return nil
}
