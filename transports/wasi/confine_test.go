package wasi

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/transports/confine"
)

func TestTheRunnerIsConfined(t *testing.T) {
	supported := confine.Supported()
	if !supported.Complete() {
		o := Options{Module: program(doNothing), RequireConfinement: true}
		if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "cannot confine the runner") {
			t.Errorf("error = %v", err)
		}
		t.Skipf("this system cannot enforce everything: %v", supported)
	}
	conn := startLab(t, Options{Name: "guest", Cache: cacheDir(), RequireConfinement: true})
	do(t, conn, request{Op: "echo"})
	if got := conn.Confinement(); !got.Complete() {
		t.Errorf("confinement: %v", got)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", conn.Conn.(*process).Pid()))
	must(t, err)
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("%q is not in the status of the runner:\n%s", want, status)
		}
	}
}

// TestTheRunnersEnvironmentIsEmpty looks where the guest's own secrets would
// be seen by others, and the host's by the runner.
func TestTheRunnersEnvironmentIsEmpty(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("needs /proc")
	}
	conn := startLab(t, Options{Name: "guest", Cache: cacheDir(), Env: []string{"TOKEN=secret"}, Args: []string{"--key=secret"}})
	do(t, conn, request{Op: "echo"})
	for _, file := range []string{"environ", "cmdline"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", conn.Conn.(*process).Pid(), file))
		must(t, err)
		if strings.Contains(string(text), "secret") || file == "environ" && len(text) > 0 {
			t.Errorf("%s of the runner: %q", file, text)
		}
	}
}

// TestAGuestThatNeverWaitsLeavesNoGarbage makes a call that costs the host some
// memory, very often.
func TestAGuestThatNeverWaitsLeavesNoGarbage(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("needs /proc")
	}
	conn := startLab(t, Options{Name: "guest", Cache: cacheDir(), Mounts: []Mount{{Host: t.TempDir(), Guest: "/"}}})
	do(t, conn, request{Op: "stats", Path: "not/there", N: 200_000})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", conn.Conn.(*process).Pid()))
	must(t, err)
	var peak int
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &peak); err != nil {
		t.Fatal(err)
	}
	t.Logf("peak of %d MiB", peak>>10)
	if peak>>10 > 128 && !raceEnabled {
		t.Errorf("the runner took %d MiB", peak>>10)
	}
}
