//go:build unix && !race

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config/document"
)

// layerText is a settings file as a team might have it, policy and all.
const layerText = `{
  // what we work with
  "model": "m", "theme": "dark", "+tools": ["a", "b"], "timeouts": {"hello": "20s", "tool": 90},
  "models": {"m-1.0": {"cost": {"input": 1, "output": 2}, "contextWindow": 200000}},
  "policy": {
    "rules": [
      {"id": "no-net", "decision": "deny", "match": {"requests": "net.connect:*", "except": {"name": "weather"}}},
      {"id": "no-x", "decision": "deny", "match": {"name": "x*"}},
    ],
    "tools": {"bash": {"deny": ["rm -rf *"], "ask": ["git push *"]}},
  },
}
`

// typical makes a home and a project with three layers of settings and five
// extensions.
func typical(b testing.TB) (home, project string) {
	dir := b.TempDir()
	home, project = filepath.Join(dir, "home"), filepath.Join(dir, "project")
	files := map[string]string{
		"home/config.json": layerText, "project/.zot/config.json": layerText, "project/.zot/local/config.json": layerText,
		"project/.git/HEAD": "ref: refs/heads/main",
	}
	for i := range 5 {
		at := fmt.Sprintf("project/.zot/extensions/e%d/", i)
		files[at+"extension.json"] = fmt.Sprintf(`{"name": "e%d", "exec": "./run.sh", "permissions": {"tools": ["e%d_*"]}}`, i, i)
		files[at+"run.sh"] = "#!/bin/sh\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return home, project
}

// openCost is the CPU time of reading and checking it all.
func openCost(b testing.TB, home, project string) time.Duration {
	start := cpuTime(b)
	w, err := workspace.Open(workspace.Options{CWD: project, Home: home})
	if err != nil {
		b.Fatal(err)
	}
	cost := cpuTime(b) - start
	for _, p := range w.Settings.Problems {
		if !strings.HasPrefix(p.Source, "ZOT_") { // the machine's own variables
			b.Fatal(p)
		}
	}
	return cost
}

// BenchmarkSettings is what all layers of a typical project cost to read and to
// check, with the extensions that they are about; beside it what parsing the
// files alone costs. All layers are to cost at most ten milliseconds.
func BenchmarkSettings(b *testing.B) {
	home, project := typical(b)
	var zot, bare []time.Duration
	for b.Loop() {
		zot = append(zot, openCost(b, home, project))
		start := cpuTime(b)
		for range 3 {
			if _, err := document.Parse("config.json", []byte(layerText)); err != nil {
				b.Fatal(err)
			}
		}
		bare = append(bare, cpuTime(b)-start)
	}
	z, p := quantile(zot, .5), quantile(bare, .5)
	b.ReportMetric(float64(z.Microseconds())/1e3, "zot-cpu-ms")
	b.ReportMetric(float64(p.Microseconds())/1e3, "parse-cpu-ms")
	b.ReportMetric(0, "ns/op")
}

// cpuTime is what this process has used of the processors so far.
func cpuTime(b testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
