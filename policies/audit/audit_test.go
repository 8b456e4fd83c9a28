package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
)

func open(t *testing.T, h home.Home) *audit.Log {
	t.Helper()
	l, err := audit.Open(h)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(value string) audit.Record {
	r := audit.Of(policies.Decision{Verdict: policies.Deny, Code: policies.CodeOutsideGrant, By: policies.Origin{Layer: policies.User, File: "config.json", Line: 3}}, "todo")
	r.Capability, r.Value = policies.EnvSecrets, value
	return r
}

func TestInstancesShareOneChain(t *testing.T) {
	h := home.Home(t.TempDir())
	var wg sync.WaitGroup
	for i := range 5 {
		l := open(t, h)
		wg.Go(func() {
			for j := range 20 {
				if err := l.Append(record(fmt.Sprintf("V%d_%d", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n, last, err := audit.Verify(h.AuditFile())
	if n != 100 || err != nil || last == "" {
		t.Errorf("%d records, %v", n, err)
	}
	if info, _ := os.Stat(h.AuditFile()); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
	text, _ := os.ReadFile(h.AuditFile())
	first, _, _ := strings.Cut(string(text), "\n")
	for _, want := range []string{`"code":"ZP040"`, `"verdict":"deny"`, `"layer":"user"`, `"capability":"env.secrets"`, `"prev":""`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is missing from %s", want, first)
		}
	}
}

func TestTamperingIsFound(t *testing.T) {
	h := home.Home(t.TempDir())
	l := open(t, h)
	for i := range 4 {
		if err := l.Append(record(fmt.Sprint("V", i))); err != nil {
			t.Fatal(err)
		}
	}
	good, _ := os.ReadFile(h.AuditFile())
	lines := strings.SplitAfter(string(good), "\n")
	for name, text := range map[string]string{
		"changed":   strings.Replace(string(good), `"value":"V1"`, `"value":"VX"`, 1),
		"taken out": lines[0] + lines[2] + lines[3],
		"swapped":   lines[0] + lines[2] + lines[1] + lines[3],
		"doubled":   lines[0] + lines[1] + lines[1] + lines[2],
	} {
		if err := os.WriteFile(h.AuditFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := audit.Verify(h.AuditFile())
		var ce *audit.ChainError
		if !errors.As(err, &ce) || ce.Line < 2 || ce.Line > 3 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A log that was never long begins with its first line.
func TestAMissingBeginningIsFound(t *testing.T) {
	h := home.Home(t.TempDir())
	l := open(t, h)
	for i := range 3 {
		if err := l.Append(record(fmt.Sprint("V", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := audit.VerifyAll(h.AuditFile()); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(h.AuditFile())
	_, rest, _ := strings.Cut(string(good), "\n")
	if err := os.WriteFile(h.AuditFile(), []byte(rest), 0o600); err != nil {
		t.Fatal(err)
	}
	chain, err := audit.VerifyAll(h.AuditFile())
	if err == nil || chain.Broken == nil || chain.Broken.Line != 1 {
		t.Errorf("got %v, %+v", err, chain)
	}
}

func TestATornLineDoesNotSpoilTheNext(t *testing.T) {
	h := home.Home(t.TempDir())
	if err := open(t, h).Append(record("A")); err != nil {
		t.Fatal(err)
	}
	f, _ := os.OpenFile(h.AuditFile(), os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprint(f, `{"time":"2026`)
	f.Close()
	if err := open(t, h).Append(record("B")); err != nil {
		t.Fatal(err)
	}
	_, _, err := audit.Verify(h.AuditFile())
	var ce *audit.ChainError
	if !errors.As(err, &ce) || ce.Line != 2 {
		t.Errorf("the torn line is line 2: %v", err)
	}
}

func TestAFullLogBeginsANewFile(t *testing.T) {
	h := home.Home(t.TempDir())
	l := open(t, h)
	if err := l.Append(record("A")); err != nil {
		t.Fatal(err)
	}
	_, last, _ := audit.Verify(h.AuditFile())
	if err := os.Truncate(h.AuditFile(), audit.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(record("B")); err != nil {
		t.Fatal(err)
	}
	if n, _, err := audit.Verify(h.AuditFile()); n != 1 || err != nil {
		t.Errorf("the new file has %d records, %v", n, err)
	}
	if _, err := os.Stat(h.AuditFile() + ".1"); err != nil || last == "" {
		t.Errorf("the old file is gone: %v", err)
	}
}

func TestALogThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "logs"), nil, 0o600); err != nil { // where a folder belongs
		t.Fatal(err)
	}
	if _, err := audit.Open(home.Home(dir)); err == nil || !strings.Contains(err.Error(), "opening audit log") {
		t.Errorf("got %v", err)
	}
}

// The chain goes through the older files, oldest first.
func TestTheChainGoesThroughAllFiles(t *testing.T) {
	h := home.Home(t.TempDir())
	path := h.AuditFile()
	if chain, err := audit.VerifyAll(path); err != nil || len(chain.Files) != 0 {
		t.Fatalf("without a log: %+v, %v", chain, err)
	}
	l := open(t, h)
	for i := range 6 {
		if err := l.Append(record(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	// The first two lines are an older file, the next two a younger one.
	text, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(text), "\n")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path+".2", lines[0]+lines[1])
	write(path+".1", lines[2]+lines[3])
	write(path, lines[4]+lines[5])
	chain, err := audit.VerifyAll(path)
	if err != nil || chain.Records != 6 || !slices.Equal(chain.Files, []string{path + ".2", path + ".1", path}) {
		t.Errorf("%+v, %v", chain, err)
	}
	for name, change := range map[string]func(){
		path + ".1:1": func() { write(path+".1", lines[3]) },                                               // one is missing between two files
		path + ":1":   func() { write(path+".1", lines[2]+lines[3]); write(path, lines[5]) },               // likewise
		path + ".2:2": func() { write(path+".2", lines[0]+strings.Replace(lines[1], "deny", "allow", 1)) }, // one was changed
	} {
		change()
		var broken *audit.ChainError
		if _, err := audit.VerifyAll(path); !errors.As(err, &broken) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("want %s, got %v", name, err)
		}
		write(path+".2", lines[0]+lines[1])
		write(path+".1", lines[2]+lines[3])
		write(path, lines[4]+lines[5])
	}
}
