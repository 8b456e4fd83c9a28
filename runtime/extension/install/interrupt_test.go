package install

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// TestMain lets the test program be a zot that dies at a given step of an
// operation, without any of its deferred work.
func TestMain(m *testing.M) {
	// With the race detector, each program would sleep for a second when it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	if operation := os.Getenv("INSTALL_TEST_OPERATION"); operation != "" {
		dieAt, _ := strconv.Atoi(os.Getenv("INSTALL_TEST_DIE_AT"))
		n := 0
		testOnlyStep = func(string) error {
			if n++; n > dieAt {
				os.Exit(diedExit)
			}
			return nil
		}
		if err := operate(operation, os.Getenv("INSTALL_TEST_HOME"), os.Getenv("INSTALL_TEST_SOURCE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const diedExit = 9

func operate(operation, zotHome, source string) error {
	o := Options{Home: zotHome}
	if operation == "install" {
		_, err := Install(context.Background(), o, source)
		return err
	}
	c, err := Pick(discovery.Find(discovery.Options{Home: zotHome}), "demo", "")
	if err != nil {
		return err
	}
	switch operation {
	case "update":
		_, err = Update(context.Background(), UpdateOptions{Options: o}, c)
	case "remove":
		err = Remove(zotHome, c)
	case "disable":
		_, err = SetEnabled(zotHome, "", c, false)
	}
	return err
}

// dying runs an operation in a process that dies at the given step, and reports
// whether it came that far.
func dying(t *testing.T, operation, zotHome, source string, dieAt int) (died bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "INSTALL_TEST_OPERATION="+operation, "INSTALL_TEST_HOME="+zotHome,
		"INSTALL_TEST_SOURCE="+source, "INSTALL_TEST_DIE_AT="+strconv.Itoa(dieAt))
	out, err := cmd.CombinedOutput()
	switch code := cmd.ProcessState.ExitCode(); code {
	case diedExit:
		return true
	case 0:
		return false
	default:
		t.Fatalf("%s dying at %d: %v\n%s", operation, dieAt, err, out)
		return false
	}
}

// visible is what a user sees of the home: the extensions and their files.
func visible(t *testing.T, zotHome string) map[string]string {
	t.Helper()
	files := tree(t, home.Home(zotHome).ExtensionsDir())
	for name := range files {
		if strings.HasPrefix(name, ".") {
			delete(files, name)
		}
	}
	return files
}

// A hundred operations of each kind, each ended at a random step: what is seen
// afterwards is the state before or the state after, the record agrees with it,
// and the same operation can then be done and leaves nothing over.
func TestInterruptedAtAnyMoment(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 15
	}
	for _, operation := range []string{"install", "update", "remove", "disable"} {
		t.Run(operation, func(t *testing.T) {
			deaths := 0
			for round := range rounds {
				w := newInterrupted(t, operation)
				dieAt := rand.IntN(w.steps)
				if round < w.steps {
					dieAt = round // every step once, then by chance
				}
				if dying(t, operation, w.home, w.source, dieAt) {
					deaths++
				}
				w.check(t, operation, dieAt)
			}
			if deaths < rounds/2 {
				t.Errorf("only %d of %d runs were interrupted", deaths, rounds)
			}
		})
	}
}

// interrupted is a home before an operation, and what it is before and after.
type interrupted struct {
	home, source  string
	before, after map[string]string
	steps         int
}

func newInterrupted(t *testing.T, operation string) *interrupted {
	t.Helper()
	w := &interrupted{home: t.TempDir(), source: demo(t, "demo", "1.0.0", "old.txt", "old")}
	prepare := func(zotHome string) {
		if operation == "install" {
			return
		}
		_, err := Install(context.Background(), Options{Home: zotHome}, w.source)
		must(t, err)
		write(t, filepath.Join(zotHome, "extensions", "demo"), "todos.json", "mine")
	}
	prepare(w.home)
	twin := t.TempDir()
	prepare(twin)
	if operation == "update" {
		write(t, w.source, "extension.json", `{"name":"demo","version":"2.0.0","exec":"./run.sh"}`, "lib/b.txt", "b", "lib/a.txt", "a2")
		must(t, os.Remove(filepath.Join(w.source, "old.txt")))
	}
	w.before = visible(t, w.home)
	testOnlyStep = func(string) error { w.steps++; return nil }
	err := operate(operation, twin, w.source)
	testOnlyStep = nil
	must(t, err)
	w.after = visible(t, twin)
	return w
}

func (w *interrupted) check(t *testing.T, operation string, dieAt int) {
	t.Helper()
	seen := visible(t, w.home)
	isAfter := cmp.Equal(w.after, seen)
	if !isAfter && !cmp.Equal(w.before, seen) {
		t.Fatalf("dying at %d left neither the old state nor the new one: %v", dieAt, seen)
	}
	if origin, known, err := OriginOf(w.home, "demo"); err != nil || known != (len(seen) > 0) || known && len(changedFiles(filepath.Join(w.home, "extensions", "demo"), origin)) > 0 {
		t.Fatalf("dying at %d: record known %v, %v, changed %v", dieAt, known, err, changedFiles(filepath.Join(w.home, "extensions", "demo"), origin))
	}
	if !isAfter {
		must(t, operate(operation, w.home, w.source))
	}
	must(t, Tidy(w.home))
	if diff := cmp.Diff(w.after, visible(t, w.home)); diff != "" {
		t.Fatalf("dying at %d, then again: %s", dieAt, diff)
	}
	for _, name := range entries(t, w.home) {
		if strings.HasPrefix(name, stagingPrefix) {
			t.Fatalf("dying at %d: %s was left over", dieAt, name)
		}
	}
}
