package config_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
)

func TestSavingChangesOneSetting(t *testing.T) {
	w := newWorld(t)
	file := w.path(config.User)
	w.write(config.User, "\ufeff{\r\n  // mine\r\n  \"future\": {\"x\": 1},\r\n  \"model\": \"a\",\r\n}\r\n")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	set := func(key, text string) {
		t.Helper()
		path := config.MustPath(key)
		value, err := config.FileValue(config.User, path, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Set(w.opts.Home, file, path, value); err != nil {
			t.Fatal(err)
		}
	}
	set("model", "b")
	set("timeouts.tool", "2m")
	set("+tools", "x, y")
	want := "\ufeff{\r\n  // mine\r\n  \"future\": {\"x\": 1},\r\n  \"model\": \"b\",\r\n  \"timeouts\": {\r\n    \"tool\": \"2m\"\r\n  },\r\n  \"+tools\": [\"x\", \"y\"],\r\n}\r\n"
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %o", info.Mode().Perm())
	}
	for _, key := range []string{"timeouts.tool", "+tools"} {
		if found, err := config.Unset(w.opts.Home, file, config.MustPath(key)); !found || err != nil {
			t.Errorf("unset %s: %v, %v", key, found, err)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != "\ufeff{\r\n  // mine\r\n  \"future\": {\"x\": 1},\r\n  \"model\": \"b\",\r\n}\r\n" {
		t.Errorf("after unset: %q", got)
	}
	if found, err := config.Unset(w.opts.Home, file, []string{"theme"}); found || err != nil {
		t.Errorf("unset of what is not there: %v, %v", found, err)
	}
}

func TestSavingMakesAFile(t *testing.T) {
	w := newWorld(t)
	file := w.path(config.User)
	if err := config.Set(w.opts.Home, file, []string{"model"}, "m"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if !strings.Contains(string(got), `"$schema"`) || w.load().Config.Model != "m" {
		t.Errorf("file holds %s", got)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %o", info.Mode().Perm())
	}
}

func TestSavingLeavesABrokenFileAlone(t *testing.T) {
	w := newWorld(t)
	broken := "{\n  \"model\": \"a\"\n  \"theme\": \"b\"\n}"
	w.write(config.User, broken)
	err := config.Set(w.opts.Home, w.path(config.User), []string{"model"}, "m")
	var syntax *document.SyntaxError
	if !errors.As(err, &syntax) || syntax.Pos.Line != 3 || !strings.Contains(err.Error(), "left as it is") {
		t.Errorf("error is %v", err)
	}
	if got, _ := os.ReadFile(w.path(config.User)); string(got) != broken {
		t.Errorf("file holds %q", got)
	}
}

func TestTwentyInstancesSavingLoseNothing(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			path := []string{"models", fmt.Sprintf("m.%d", i), "name"}
			if err := config.Set(w.opts.Home, w.path(config.User), path, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(w.load().Config.Models); n != 20 {
		t.Errorf("%d of 20 models were kept", n)
	}
}

func TestFileValue(t *testing.T) {
	tests := []struct {
		layer     config.Layer
		key, text string
		want      any
		err       string
	}{
		{config.User, "timeouts.hello", "5", 5.0, ""},
		{config.User, "timeouts.hello", "1m30s", "1m30s", ""},
		{config.User, "limits.frame", "8MiB", "8MiB", ""},
		{config.User, "jail", "on", true, ""},
		{config.User, "maxSteps", "10", int64(10), ""},
		{config.User, "caFile", "~/x", "~/x", ""},
		{config.User, "tools", `["a,b"]`, []string{"a,b"}, ""},
		{config.User, "tools", "", []string{}, ""},
		{config.User, "maxSteps", "0", nil, "maxSteps: 0 is out of bounds; write from 1 to 100000"},
		{config.User, "modle", "x", nil, `unknown setting "modle"; did you mean "model"?`},
		{config.User, "timeouts", "x", nil, `unknown setting "timeouts"; it holds: autoReady,`},
		{config.User, "+model", "x", nil, "does not hold a list"},
		{config.Project, "baseURL", "https://x", nil, `"baseURL" may not be set by the project layer; set it in: managed, user,`},
		{config.User, "tools", "[1]", nil, "is not a list of strings"},
	}
	for _, tt := range tests {
		got, err := config.FileValue(tt.layer, config.MustPath(tt.key), tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %s: error %v, want %q", tt.key, tt.text, err, tt.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s: got %#v, %v, want %#v", tt.key, tt.text, got, err, tt.want)
		}
	}
}
