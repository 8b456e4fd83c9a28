package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patriceckhart/zot/cmd/zot/internal/cli"
	"github.com/patriceckhart/zot/runtime/extension/extensiontest"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi"
)

// The test binary is also zot, and the extensions of the scenarios: testscript
// starts it under these names.
func TestMain(m *testing.M) {
	// What zot starts itself as, it starts the test binary as.
	if len(os.Args) > 1 && (os.Args[1] == wasi.RunnerArg || os.Args[1] == confine.HelperArg) {
		os.Exit(cli.Main(os.Args[1:]))
	}
	if os.Getenv(testOnlyScripted) != "" {
		os.Exit(extensiontest.Main(os.Args[1:]))
	}
	if os.Getenv(testOnlyMain) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	// With the race detector, a program would sleep for a second when it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	testscript.Main(withModules{m}, map[string]func(){
		"zot":       func() { managedOfScenario(); os.Exit(cli.Main(os.Args[1:])) },
		"scripted":  func() { os.Exit(extensiontest.Main(os.Args[1:])) },
		"pick":      func() { os.Exit(pick(os.Args[1:], os.Stdout, os.Stderr)) },
		"fakemodel": func() { os.Exit(providertest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// The variables that make the test binary zot, or a scripted extension, for
// tests that start it themselves.
const (
	testOnlyMain     = "ZOT_TEST_MAIN"
	testOnlyScripted = "ZOT_TEST_SCRIPTED"
)

// TestScenarios runs the scenarios of testdata/script, a folder a subject.
// Each tells one promise of the documentation and needs nothing but itself.
func TestScenarios(t *testing.T) {
	folders, err := filepath.Glob("testdata/script/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir: dir, Setup: setup, Condition: condition, RequireExplicitExec: true,
				Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
					"model": modelCmd(t), "requests": requestsCmd, "waitfor": waitforCmd, "asked": askedCmd, "gone": goneCmd, "readenv": readenvCmd, "readme": readmeCmd, "build": buildCmd,
					"terminal": terminalCmd(t), "module": moduleCmd, "compiled": compiledCmd,
				},
			})
		})
	}
}

// patience are the bounds of what an extension is waited for, which no
// scenario reaches unless it wants to.
var patience = map[string]string{
	"HELLO": "5m", "READY": "5m", "READY_WAIT": "5m", "AUTO_READY": "1m",
	"COMMAND": "5m", "TOOL": "5m", "INTERCEPT": "5m", "WRITE": "5m", "SHUTDOWN": "1m",
}

// waitTime is how long a scenario waits for what has to come.
const waitTime = 5 * time.Minute

// await waits for a condition.
func await(ts *testscript.TestScript, holds func() bool, failure string, args ...any) {
	if !within(waitTime, holds) {
		ts.Fatalf(failure, args...)
	}
}

// within looks again and again whether a condition holds that nobody tells of, as
// it is about another process or a file, and reports whether it did in that time.
func within(most time.Duration, holds func() bool) bool {
	for end := time.Now().Add(most); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

type serverKey struct{}

// setup gives a scenario a home, a project to stand in, and an environment
// without anything of the machine's own.
func setup(env *testscript.Env) error {
	project := filepath.Join(env.WorkDir, "project")
	user := filepath.Join(env.WorkDir, "user")
	for _, dir := range []string{project, user} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	env.Cd = project
	env.Setenv("HOME", user)
	env.Setenv("USERPROFILE", user)
	env.Setenv("ZOT_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("HTTP_PROXY", "")
	// How fast the machine is makes no difference: a scenario in which a time
	// passes sets it.
	for name, bound := range patience {
		env.Setenv("ZOT_TIMEOUTS_"+name, bound)
	}
	env.Setenv("GORACE", os.Getenv("GORACE"))
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		env.Setenv("GOCACHE", filepath.Join(cache, "go-build")) // what go test has just filled
	} else {
		env.Setenv("GOCACHE", os.Getenv("GOCACHE"))
	}
	env.Setenv("NO_PROXY", "127.0.0.1")
	env.Values[serverKey{}] = new(*providertest.Server)
	return nil
}

// condition knows the programs that a scenario may need, and whether the system
// can confine files.
func condition(cond string) (bool, error) {
	if name, ok := strings.CutPrefix(cond, "program:"); ok {
		_, err := exec.LookPath(name)
		return err == nil, nil
	}
	if cond == "landlock" {
		_, missing := confine.Supported().Unenforced[confine.Files]
		return !missing, nil
	}
	if cond == "shield" {
		return confine.ShieldMissing() == "", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// modelCmd starts the fake model with a script and makes it the configured
// one. What it was asked wrongly, or not at all, fails the scenario.
func modelCmd(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: model SCRIPT")
		}
		script, err := providertest.Load(ts.MkAbs(args[0]))
		ts.Check(err)
		srv, err := providertest.Start(script, "")
		ts.Check(err)
		ts.Setenv("ZOT_BASE_URL", srv.URL())
		ts.Setenv("ZOT_MODEL", "fake")
		ts.Setenv("ZOT_API_KEY", "a-key")
		*ts.Value(serverKey{}).(**providertest.Server) = srv
		ts.Defer(func() {
			srv.Close()
			if err := srv.Check(); err != nil {
				t.Errorf("%s: the model: %v", ts.Name(), err)
			}
		})
	}
}

// requestsCmd writes what the model was shown to a file.
func requestsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests FILE")
	}
	srv := *ts.Value(serverKey{}).(**providertest.Server)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(srv.Log()), 0o644))
}

// waitforCmd waits until a file exists, and with a pattern until it holds it.
func waitforCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: waitfor FILE [TEXT]")
	}
	path := ts.MkAbs(args[0])
	await(ts, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && (len(args) == 1 || strings.Contains(string(text), args[1]))
	}, "%s did not come", strings.Join(args, " with "))
}

// askedCmd waits until the model was asked so many times.
func askedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked COUNT")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	srv := *ts.Value(serverKey{}).(**providertest.Server)
	await(ts, func() bool { return len(srv.Requests()) >= want }, "the model was not asked %d times", want)
}

// readenvCmd sets a variable to what a file, or stdout, holds.
func readenvCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: readenv NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// goneCmd waits until the process whose number is in a file is no more.
func goneCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PIDFILE")
	}
	pid := strings.TrimSpace(ts.ReadFile(args[0]))
	await(ts, func() bool {
		// One that ended and that nobody has asked about yet counts as gone.
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, "process %s is still there", pid)
}
