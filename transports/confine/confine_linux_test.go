//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HelperArg {
		os.Exit(HelperMain(os.Args[2:]))
	}
	if os.Getenv(probeVar) != "" {
		prober()
	}
	os.Exit(m.Run())
}

// aims makes everything that the prober aims at.
func aims(t *testing.T) target {
	t.Helper()
	dir := t.TempDir()
	own, elsewhere := filepath.Join(dir, "own"), filepath.Join(dir, "elsewhere")
	aim := target{
		Own: own, Elsewhere: elsewhere, Secret: filepath.Join(elsewhere, "secret"), Link: filepath.Join(own, "link"),
		Unix: filepath.Join(own, "socket"), Abstract: "@zot-test-" + filepath.Base(filepath.Dir(dir)), Parent: os.Getpid(),
	}
	must(t, os.Mkdir(own, 0o700))
	must(t, os.Mkdir(elsewhere, 0o700))
	must(t, os.WriteFile(filepath.Join(own, "file"), []byte("own"), 0o600))
	must(t, os.WriteFile(aim.Secret, []byte("secret"), 0o600))
	must(t, os.Symlink(aim.Secret, aim.Link))
	listener := func(network, address string) int {
		l, err := net.Listen(network, address)
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			return a.Port
		}
		return 0
	}
	aim.TCP, aim.OtherTCP = listener("tcp", "127.0.0.1:0"), listener("tcp", "127.0.0.1:0")
	listener("unix", aim.Unix)
	listener("unix", aim.Abstract)
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = u.Close() })
	aim.UDP = u.LocalAddr().(*net.UDPAddr).Port
	return aim
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// system is what a program needs to be loaded, where it exists.
func system(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return slices.DeleteFunc([]string{self, "/usr", "/bin", "/lib", "/lib64", "/proc/self", "/etc/ld.so.cache"}, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// runProbe runs the prober by that command line, which may hold the helper.
func runProbe(t *testing.T, aim target, path string, args []string) map[string]string {
	t.Helper()
	text, err := json.Marshal(aim)
	must(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = []string{probeVar + "=" + string(text)}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the prober: %v", err)
	}
	var did map[string]string
	must(t, json.Unmarshal(out, &did))
	return did
}

func skipUnlessComplete(t *testing.T) {
	t.Helper()
	if r := Supported(); !r.Complete() {
		t.Skipf("this system cannot enforce everything: %v", r)
	}
	if raceEnabled {
		t.Skip("the race detector maps more memory than the policy allows")
	}
}

const memoryForTests = 1 << 30

// check compares what worked with what should.
func check(t *testing.T, did map[string]string, want ...string) {
	t.Helper()
	for name, answer := range did {
		if name == "environment" {
			continue
		}
		switch may := slices.Contains(want, name); {
		case may && answer != "yes":
			t.Errorf("%s: %s, but it should work", name, answer)
		case !may && answer == "yes":
			t.Errorf("%s: it works, and should not", name)
		}
	}
	if did["environment"] != "1" {
		t.Errorf("the prober had %s variables in its environment, want its own alone", did["environment"])
	}
}

// TestTheProberIsAbleUnconfined keeps the other tests honest: what they find
// impossible is possible without walls.
func TestTheProberIsAbleUnconfined(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	did := runProbe(t, aims(t), self, nil)
	for _, name := range []string{
		"read own", "write own", "move within own", "read secret", "read through own link", "list elsewhere", "write elsewhere",
		"parent's environment", "connect", "connect to another port", "listen", "UDP", "unix socket", "abstract socket",
		"signal the parent", "execute", "32 MiB", "4 GiB", "read secret on other threads",
	} {
		if did[name] != "yes" {
			t.Errorf("%s: %s", name, did[name])
		}
	}
}

// TestSelf is the policy of a process that computes: a folder, and nothing.
func TestSelf(t *testing.T) {
	skipUnlessComplete(t)
	aim := aims(t)
	policy, err := json.Marshal(Policy{Write: []string{aim.Own}, DataLimit: memoryForTests, FileLimit: 64})
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	did := runProbe(t, aim, self, []string{string(policy)})
	check(t, did, "read own", "write own", "move within own", "32 MiB")
}

// TestCommand is the policy of a program that may start others.
func TestCommand(t *testing.T) {
	skipUnlessComplete(t)
	aim := aims(t)
	self, err := os.Executable()
	must(t, err)
	path, args, err := Command(Policy{Read: system(t), Write: []string{aim.Own, os.DevNull}, Exec: true, DataLimit: memoryForTests}, self, nil)
	must(t, err)
	check(t, runProbe(t, aim, path, args), "read own", "write own", "move within own", "32 MiB", "execute")
}

// TestOnePort lets it connect to one port, as that of a proxy, and no further.
func TestOnePort(t *testing.T) {
	skipUnlessComplete(t)
	aim := aims(t)
	self, err := os.Executable()
	must(t, err)
	path, args, err := Command(Policy{Read: system(t), Write: []string{aim.Own, os.DevNull}, Exec: true, TCP: []uint16{uint16(aim.TCP)}, DataLimit: memoryForTests}, self, nil)
	must(t, err)
	check(t, runProbe(t, aim, path, args), "read own", "write own", "move within own", "32 MiB", "execute", "connect")
}

// TestOnlyFiles leaves all but files in reach.
func TestOnlyFiles(t *testing.T) {
	if _, missing := Supported().Unenforced[Files]; missing {
		t.Skipf("this system cannot enforce it: %v", Supported())
	}
	aim := aims(t)
	self, err := os.Executable()
	must(t, err)
	path, args, err := Command(Policy{Read: append(system(t), "/proc"), Write: []string{aim.Own, os.DevNull}, Exec: true, OnlyFiles: true}, self, nil)
	must(t, err)
	did := runProbe(t, aim, path, args)
	for name, want := range map[string]bool{
		"read own": true, "write own": true, "move within own": true, "execute": true, "connect": true, "UDP": true,
		"read secret": false, "read through own link": false, "list elsewhere": false, "write elsewhere": false,
		"parent's environment": false, "trace the parent": false, "mount": false,
	} {
		if (did[name] == "yes") != want {
			t.Errorf("%s: %s, want it to work: %v", name, did[name], want)
		}
	}
}

func TestHelperErrors(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"nothing", "for zot's own use", []string{HelperArg}},
		{"no policy", "policy:", []string{HelperArg, "x", "/bin/true"}},
		{"missing folder", "/no/such/folder", []string{HelperArg, `{"exec":true,"read":["/no/such/folder"]}`, "/bin/true"}},
		{"missing program", `"/no/such/program" cannot be executed`, []string{HelperArg, `{"exec":true}`, "/no/such/program"}},
	} {
		if Supported().Complete() || test.name == "nothing" || test.name == "no policy" {
			out, err := exec.Command(self, test.args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("%s: %v, %q, want %q", test.name, err, out, test.want)
			}
		}
	}
	if _, _, err := Command(Policy{}, "/bin/true", nil); err == nil {
		t.Error("a policy without Exec was taken for a program")
	}
}

func TestReportNamesWhatIsMissing(t *testing.T) {
	var r Report
	r.stands(Network)
	r.missing(Files, "no Landlock")
	if got := r.String(); r.Complete() || got != "files not enforced (no Landlock), network enforced" {
		t.Errorf("report = %q", got)
	}
}
