// The program keeper is a guest of the scenarios: it shows what it has of files
// and environment, and what happens where it wants more.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	e := ext.New("keeper", "1.0.0")
	e.Command("keep", "write a text to its own folder", func(text string) ext.Response {
		return said(os.WriteFile(filepath.Join(e.Host().DataDir, "note"), []byte(text), 0o600), "kept")
	})
	e.Command("fill", "write 1 MiB to its own folder", func(string) ext.Response {
		return said(os.WriteFile(filepath.Join(e.Host().DataDir, "big"), make([]byte, 1<<20), 0o600), "written")
	})
	e.Command("note", "show what was kept", func(string) ext.Response {
		text, err := os.ReadFile(filepath.Join(e.Host().DataDir, "note"))
		return said(err, string(text))
	})
	e.Command("peek", "show a file", func(path string) ext.Response {
		text, err := os.ReadFile(path)
		return said(err, string(text))
	})
	e.Command("environment", "list the names of variables", func(string) ext.Response {
		var names []string
		for _, kv := range os.Environ() {
			name, _, _ := strings.Cut(kv, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		return ext.Display(fmt.Sprint(names))
	})
	e.Command("spin", "compute for ever", func(string) ext.Response {
		for n := 0; ; n++ {
			sink = n
		}
	})
	e.Command("hoard", "take memory for ever", func(string) ext.Response {
		for {
			hoard = append(hoard, make([]byte, 1<<20))
			clear(hoard[len(hoard)-1])
		}
	})
	e.InterceptToolCall(func(_ string, args json.RawMessage) (allow bool, reason string) {
		for n := 0; strings.Contains(string(args), "spin"); n++ {
			sink = n
		}
		return true, ""
	})
	if err := e.Run(); err != nil {
		log.Fatal(err)
	}
}

var (
	sink  int
	hoard [][]byte
)

func said(err error, text string) ext.Response {
	if err != nil {
		return ext.Display("failed: " + err.Error())
	}
	return ext.Display(text)
}
