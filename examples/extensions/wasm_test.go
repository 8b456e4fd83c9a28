package extensions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/wasi"
)

// What zot starts itself as, it starts the test binary as.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == wasi.RunnerArg {
		os.Exit(wasi.RunnerMain(os.Args[2:]))
	}
	dir, err := os.MkdirTemp("", "zot-examples-")
	if err != nil {
		panic(err)
	}
	cache = filepath.Join(dir, "cache")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience is for compiling on a busy machine, with the race detector.
const patience = 10 * time.Minute

// cache keeps compiled modules from one test to the next.
var cache string

// asked has, for each example that runs as a module, what a conversation asks.
// Everything else in the conversation is the same for all.
var asked = map[string][]extproto.Frame{
	"hello":   {command("hello", "Ada"), command("where", "")},
	"guard":   {intercept("bash", `{"command":"rm -rf /"}`), intercept("bash", `{"command":"ls"}`)},
	"todo":    {tool("todo_add", `{"text":"buy milk"}`), tool("todo_list", `{}`)},
	"weather": {tool("weather", `{"city":"Oslo"}`), tool("weather", `{"city":7}`)},
	"prompt-style": {extproto.EventIntercept{ID: "p", Event: extproto.EventBeforeAgentStart, SessionID: "s", AgentRunID: "r",
		CWD: folder, Provider: "demo", Model: "demo", SystemPrompt: new("Base.")}},
	"tools-on-demand": {tool("load_converters", `{"topic":"length"}`), tool("feet_to_metres", `{"value":29032}`)},
	"hello-wasm": {command("countdown", ""), tool("greet", `{"name":"Zoë \u2028"}`), tool("greet", `{}`),
		tool("peek", `{"path":"`+folder+`/no-such-file"}`), tool("peek", `{"path":"`+folder+`/main.go"}`)},
	"weather-wasm": {tool("weather_now", `{"city":"Oslo"}`), tool("weather_now", `{"city":"Atlantis"}`), tool("weather_now", `{"city":"Denied"}`)},
	"whole":        {command("greet", "Ada"), command("place", ""), tool("forecast", `{"city":"Oslo"}`), intercept("bash", `{}`), intercept("read", `{}`)},
	"wordcount-c":  {tool("wordcount", `{"text":"one two\nthr\u00e9e \u2028\ud83d\ude00 é"}`), tool("wordcount", `{"a":[{"text":"}"}],"text":""}`), tool("wordcount", `{}`)},
}

// answers are parts of what has to come back, so that two transports do not
// agree on nothing.
var answers = map[string][]string{
	"hello":           {`"prompt":"Say hello to Ada, briefly."`, "You are in *"},
	"guard":           {`"block":true`},
	"todo":            {"buy milk"},
	"weather":         {"Oslo: -4 °C, snow", `"is_error":true`},
	"prompt-style":    {"House rules"},
	"tools-on-demand": {"8848.95 m"},
	"hello-wasm":      {"Hello, Zoë", "lift-off", "give the name", "there is no such file", ` bytes"`},
	"weather-wasm":    {"Oslo, Norway: -4.5 °C, wind 12 km/h", "no city is called", "zot may not connect there for weather-wasm: not granted"},
	"whole":           {`"prompt":"Greet Ada, and be brief."`, `"display":"*"`, "Oslo: fair", `"block":true`, "still here"},
	"wordcount-c":     {"1 lines, 5 words, 25 bytes", "0 lines, 0 words, 0 bytes", "give the text"},
}

// unasked is the last that an example says by itself.
var unasked = map[string]string{"hello-wasm": "lift-off", "whole": "still here"}

// folder stands for the example's own folder in what is asked.
const folder = "FOLDER"

func command(name, args string) extproto.Frame {
	return extproto.CommandInvoked{ID: "c-" + name, Name: name, Args: args}
}

var toolCalls int

func tool(name, args string) extproto.Frame {
	toolCalls++
	return extproto.ToolCall{ID: fmt.Sprintf("t-%d", toolCalls), Name: name, Args: json.RawMessage(args)}
}

func intercept(tool, args string) extproto.Frame {
	toolCalls++
	return extproto.EventIntercept{ID: fmt.Sprintf("i-%d", toolCalls), Event: extproto.EventToolCall, ToolID: "x", ToolName: tool, ToolArgs: json.RawMessage(args)}
}

// Every example that can be a module says the same as one that it says as a
// process, wherever it runs.
func TestModules(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("building the examples needs the go tool")
	}
	for name, m := range folders(t) {
		if m.Language != "go" && m.Language != "c" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != "hello-wasm" && name != "wordcount-c" {
				notWithRace(t)
			}
			sameAsModule(t, m, name)
		})
	}
}

// notWithRace leaves a test to the run without the race detector. Two modules of
// TestModules, in Go and in C, are what it sees.
func notWithRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("with the race detector, compiling this module takes ten times as long, in code that hello-wasm and wordcount-c go through as well; go test without -race runs it")
	}
}

// So does a program that has no need to know of modules.
func TestAWholeProgramAsAModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("building the program needs the go tool")
	}
	notWithRace(t)
	sameAsModule(t, manifest{Name: "testdata/whole", Language: "go"}, "whole")
}

func sameAsModule(t *testing.T, m manifest, name string) {
	t.Helper()
	if asked[name] == nil {
		t.Fatal("nothing is asked of this example")
	}
	dir := t.TempDir()
	program, module := buildBoth(t, m, dir)
	native := converse(t, name, dir, func(o wasi.Options, _ string) (transports.Conn, error) {
		return subprocess.Start(t.Context(), subprocess.Options{Path: program, Env: o.Env, Dir: dir, Stderr: o.Stderr})
	})
	for _, part := range answers[name] {
		if !strings.Contains(strings.Join(native, "\n"), part) {
			t.Errorf("no %s in\n%s", part, strings.Join(native, "\n"))
		}
	}
	for _, isolation := range []wasi.Isolation{wasi.Runner, wasi.Inline} {
		t.Run(string(isolation), func(t *testing.T) {
			guest := converse(t, name, dir, func(o wasi.Options, data string) (transports.Conn, error) {
				o.Path, o.Isolation, o.Cache = module, isolation, cache
				o.Mounts = []wasi.Mount{{Host: data, Guest: data}, {Host: dir, Guest: dir, ReadOnly: true}}
				return wasi.Start(t.Context(), o)
			})
			if diff := cmp.Diff(native, guest); diff != "" {
				t.Errorf("frames (-process +module):\n%s", diff)
			}
		})
	}
}

// buildBoth makes a program and a module of an example, in a copy of it.
func buildBoth(t *testing.T, m manifest, dir string) (program, module string) {
	t.Helper()
	program, module = filepath.Join(dir, "program"), filepath.Join(dir, "module.wasm")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if err := os.CopyFS(dir, os.DirFS(m.Name)); err != nil {
		t.Fatal(err)
	}
	run := func(env []string, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	if m.Language == "go" {
		run(nil, "go", "build", "-o", program, "./"+m.Name)
		run([]string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", module, "./"+m.Name)
		return program, module
	}
	needsC(t)
	source := filepath.Join(m.Name, "wordcount.c")
	run(nil, "clang", "-O2", "-Wall", "-Werror", "-o", program, source)
	run(nil, "clang", "--target=wasm32-wasi", "-O2", "-Wl,--strip-all", "-o", module, source)
	return program, module
}

// needsC skips the test where C does not become WebAssembly or a program.
func needsC(t *testing.T) {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "empty.c")
	if err := os.WriteFile(empty, []byte("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{}, {"--target=wasm32-wasi"}} {
		out, err := exec.Command("clang", append(flags, "-o", empty+".out", empty)...).CombinedOutput()
		if err != nil {
			t.Skipf("needs clang, lld, wasi-libc and the WebAssembly runtime of clang (libclang-rt-dev-wasm32): %v\n%s", err, out)
		}
	}
}

// converse holds the example's conversation and returns the frames that came,
// sorted, without what is by chance.
func converse(t *testing.T, name, dir string, start func(o wasi.Options, data string) (transports.Conn, error)) []string {
	t.Helper()
	data := t.TempDir()
	var stderr strings.Builder
	conn, err := start(wasi.Options{Name: name, StartMax: patience, Env: []string{"ZOT_EXTENSION_NAME=" + name}, Stderr: &stderr}, data)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Stop(context.Background(), transports.Grace{Exit: time.Minute, Term: time.Second})
	c := &conversation{t: t, conn: conn, dir: dir}
	c.until("hello")
	c.send(extproto.HelloAck{ProtocolVersion: extproto.Version, ZotVersion: "0.0.0-test", Provider: "demo", Model: "demo", CWD: dir,
		ExtensionDir: dir, DataDir: data, Capabilities: []string{extproto.CapCallTool, extproto.CapRequest}})
	c.until("ready")
	for _, f := range asked[name] {
		c.send(f)
		c.answerTo(f)
	}
	if last := unasked[name]; last != "" {
		c.until(last)
	}
	c.send(extproto.Shutdown{})
	c.untilEnd()
	if exit := conn.Stop(t.Context(), transports.Grace{Exit: time.Minute, Term: time.Second}); exit.Code != 0 || exit.Signal != "" || stderr.Len() > 0 {
		t.Errorf("it ended with %v and said %q", exit, stderr.String())
	}
	chance := regexp.MustCompile(regexp.QuoteMeta(data) + `|` + regexp.QuoteMeta(dir) + `|\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	for i, line := range c.frames {
		c.frames[i] = chance.ReplaceAllString(line, "*")
	}
	slices.Sort(c.frames)
	return c.frames
}

type conversation struct {
	t      *testing.T
	conn   transports.Conn
	dir    string
	frames []string
}

func (c *conversation) send(f extproto.Frame) {
	c.t.Helper()
	line, err := extproto.Encode(f)
	if err != nil {
		c.t.Fatal(err)
	}
	line = bytes.ReplaceAll(line, []byte(folder), []byte(filepath.ToSlash(c.dir)))
	if err := c.conn.WriteFrame(line, time.Now().Add(3*time.Minute)); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a frame; requests are served on the way.
func (c *conversation) next() (string, error) {
	line, err := c.conn.ReadFrame()
	if err != nil {
		return "", err
	}
	c.frames = append(c.frames, string(line))
	f, err := extproto.DecodeFromExtension(line)
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if r, ok := f.(extproto.Request); ok {
		c.send(serveWeather(r))
	}
	return string(line), nil
}

// until reads until a frame holds the words.
func (c *conversation) until(words string) {
	c.t.Helper()
	if slices.ContainsFunc(c.frames, func(line string) bool { return strings.Contains(line, words) }) {
		return
	}
	for {
		line, err := c.next()
		if err != nil {
			c.t.Fatalf("waiting for %q: %v, after %q", words, err, c.frames)
		}
		if strings.Contains(line, words) {
			return
		}
	}
}

func (c *conversation) answerTo(f extproto.Frame) {
	c.t.Helper()
	line, _ := extproto.Encode(f)
	head, err := extproto.Peek(line)
	if err != nil {
		c.t.Fatal(err)
	}
	c.until(fmt.Sprintf(`"id":%q`, head.ID))
}

func (c *conversation) untilEnd() {
	c.t.Helper()
	for {
		if _, err := c.next(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			c.t.Fatal(err)
		}
	}
}

// serveWeather stands in for zot's http.fetch and for the services behind it.
func serveWeather(r extproto.Request) extproto.Frame {
	var args extproto.FetchArgs
	json.Unmarshal(r.Args, &args)
	result := extproto.FetchResult{Status: 200}
	switch {
	case r.Method != extproto.MethodFetch || strings.Contains(args.URL, "name=Denied"):
		return extproto.Response{ID: r.ID, Error: &extproto.ResponseError{Code: extproto.CodeDenied, Message: "not granted"}}
	case strings.Contains(args.URL, "name=Oslo"):
		result.Body = `{"results":[{"name":"Oslo","country":"Norway","latitude":59.91,"longitude":10.75}]}`
	case strings.Contains(args.URL, "latitude=59.91&longitude=10.75&"):
		result.Body = `{"current":{"temperature_2m":-4.5,"wind_speed_10m":12}}`
	default:
		result.Body = `{"generationtime_ms":0.3}`
	}
	raw, _ := json.Marshal(result)
	return extproto.Response{ID: r.ID, Result: raw}
}

// A module that was granted nothing finds no files.
func TestAModuleFindsNoFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("treasure"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, module := buildBoth(t, folders(t)["hello-wasm"], t.TempDir())
	conn, err := wasi.Start(t.Context(), wasi.Options{Path: module, Cache: cache, StartMax: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Stop(context.Background(), transports.Grace{})
	c := &conversation{t: t, conn: conn}
	c.until("hello")
	c.send(extproto.HelloAck{ProtocolVersion: extproto.Version})
	c.until("ready")
	for _, path := range []string{secret, "/etc/hostname", "../../../../etc/hostname"} {
		call := tool("peek", fmt.Sprintf(`{"path":%q}`, filepath.ToSlash(path)))
		c.send(call)
		c.answerTo(call)
		if last := c.frames[len(c.frames)-1]; !strings.Contains(last, `"is_error":true`) {
			t.Errorf("%s: %s", path, last)
		}
	}
}
