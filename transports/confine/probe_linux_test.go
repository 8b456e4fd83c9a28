//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// probeVar makes this test binary the prober: it tries everything and says
// what worked. Its value is a [target] in JSON.
const probeVar = "ZOT_TEST_PROBE"

// A target is what the prober aims at.
type target struct {
	Own, Secret, Link, Elsewhere string // own folder, a file outside, a link to it, a folder outside
	TCP, OtherTCP, UDP           int    // ports on the loopback address
	Unix, Abstract               string
	Parent                       int
}

// probe tries everything. The result holds "yes", or why not.
func probe(aim target) map[string]string {
	did := map[string]string{}
	try := func(name string, err error) {
		did[name] = "yes"
		if err != nil {
			did[name] = err.Error()
		}
	}
	try("read own", read(filepath.Join(aim.Own, "file")))
	try("write own", os.WriteFile(filepath.Join(aim.Own, "new"), nil, 0o600))
	try("move within own", move(aim.Own))
	try("read secret", read(aim.Secret))
	try("read through own link", read(aim.Link))
	try("list elsewhere", list(aim.Elsewhere))
	try("write elsewhere", os.WriteFile(filepath.Join(aim.Elsewhere, "new"), nil, 0o600))
	try("parent's environment", read(fmt.Sprintf("/proc/%d/environ", aim.Parent)))
	try("connect", connect("tcp", fmt.Sprintf("127.0.0.1:%d", aim.TCP)))
	try("connect to another port", connect("tcp", fmt.Sprintf("127.0.0.1:%d", aim.OtherTCP)))
	try("MPTCP", mptcp())
	try("listen", listen())
	try("UDP", udp(aim.UDP))
	try("unix socket", connect("unix", aim.Unix))
	try("abstract socket", connect("unix", aim.Abstract))
	try("signal the parent", syscall.Kill(aim.Parent, 0))
	try("trace the parent", unix.PtraceSeize(aim.Parent))
	try("user namespace", namespace())
	try("mount", mount(aim.Own))
	try("execute", exec.Command("/bin/true").Run())
	try("io_uring", ioUring())
	try("other personality", foreignNumber())
	try("32 MiB", reserve(32<<20))
	try("4 GiB", reserve(4<<30))
	try("read secret on other threads", threads(aim.Secret))
	did["environment"] = fmt.Sprint(len(os.Environ()))
	return did
}

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func list(path string) error {
	_, err := os.ReadDir(path)
	return err
}

func move(own string) error {
	from, to := filepath.Join(own, "new"), filepath.Join(own, "folder/new")
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to))
}

func connect(network, address string) error {
	dialer := net.Dialer{}
	dialer.SetMultipathTCP(false)
	conn, err := dialer.Dial(network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func mptcp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return l.Close()
}

func udp(port int) error {
	conn, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("x"))
	return err
}

// namespace asks for one in a process, so that this one stays as it is.
func namespace() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return cmd.Run()
}

// mount mounts and takes it away again.
func mount(dir string) error {
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	return unix.Unmount(dir, 0)
}

func ioUring() error {
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	if errno == unix.EFAULT { // it looked at the address: it would do it
		return nil
	}
	return errno
}

// foreignNumber makes a call by the number that a variant of this processor
// has for it.
func foreignNumber() error {
	if runtime.GOARCH != "amd64" {
		return unix.ENOSYS
	}
	_, _, errno := unix.Syscall(0x40000000+unix.SYS_GETPID, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func reserve(size int) error {
	mapped, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	return unix.Munmap(mapped)
}

// threads starts some, on each of which the walls must stand.
func threads(secret string) error {
	done := make(chan error)
	for range 4 {
		go func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			done <- read(secret)
		}()
	}
	var err error
	for range 4 {
		err = errors.Join(err, <-done)
	}
	return err
}

// prober is the main function of the prober. With arguments it confines itself
// by a policy in JSON before.
func prober() {
	var aim target
	if err := json.Unmarshal([]byte(os.Getenv(probeVar)), &aim); err != nil {
		panic(err)
	}
	if len(os.Args) > 1 {
		var p Policy
		if err := json.Unmarshal([]byte(os.Args[1]), &p); err != nil {
			panic(err)
		}
		if report, err := Self(p); err != nil || !report.Complete() {
			panic(fmt.Sprint(report, err))
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(probe(aim))
	os.Exit(0)
}
