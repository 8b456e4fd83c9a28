package extcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi"
)

// A module is what a WebAssembly file says of itself, and what holds it.
type module struct {
	Size    int      `json:"size"`
	Imports []string `json:"imports"` // functions of wasi_snapshot_preview1
	// Memory is what it starts with and MemoryLimit the most it gets, in bytes.
	Memory      uint64         `json:"memory"`
	MemoryLimit int64          `json:"memoryLimit"`
	Isolation   wasi.Isolation `json:"isolation"`
	// Enforced are the walls of the system around it, beside WebAssembly's.
	Enforced []confine.Wall `json:"enforced"`
	// CodeSize is the compiled code in the cache, CompileMillis what compiling
	// it took; 0 where there is none.
	CodeSize      int64 `json:"codeSize,omitempty"`
	CompileMillis int64 `json:"compileMs,omitempty"`
	// LoadMillis is what of the start went by until the module ran.
	LoadMillis int64  `json:"loadMs"`
	unkept     string // the folder in which the code should be, where it is not
}

// wasm says what the module of an extension is, where it can be read.
func (d *diagnosis) wasm(r *runcmd.Rehearsal, c *discovery.Candidate, s extension.Status) {
	m := module{Isolation: r.Isolation(), Enforced: []confine.Wall{}, MemoryLimit: policies.Limits{}.WithDefaults().Memory, LoadMillis: s.LaunchTime.Milliseconds()}
	if b := r.Policy().Bound(c); b != nil {
		m.MemoryLimit = b.Limits().Memory
	}
	supported := confine.Supported()
	if m.Isolation == wasi.Inline {
		d.Unenforced = append(d.Unenforced, "all walls of the system: it runs within zot")
	} else {
		m.Enforced = append(m.Enforced, supported.Enforced...)
		for wall, cause := range supported.Unenforced {
			d.Unenforced = append(d.Unenforced, fmt.Sprintf("%s: %s", wall, cause))
		}
	}
	slices.Sort(d.Unenforced)
	data, err := os.ReadFile(filepath.Join(c.Dir, filepath.FromSlash(c.Manifest.Exec)))
	if err != nil {
		return // the start has said so
	}
	info, err := wasi.Inspect(data)
	if err != nil {
		return
	}
	m.Size, m.Memory = info.Size, info.MinPages*wasi.PageSize
	for _, name := range info.Imports {
		m.Imports = append(m.Imports, strings.TrimPrefix(name, "wasi_snapshot_preview1."))
	}
	m.Imports = slices.Compact(m.Imports)
	if code, ok := wasi.InCache(r.ModuleCache(), data, m.Isolation); ok {
		m.CodeSize, m.CompileMillis = code.Size, code.Took.Milliseconds()
	} else if s.State != extension.StateFailed {
		m.unkept = r.ModuleCache()
	}
	d.Module = &m
}

func (m *module) print(line func(key, text string)) {
	line("module", fmt.Sprintf("%d KiB, starts with %d KiB of memory and gets %d MiB at most", m.Size>>10, m.Memory>>10, m.MemoryLimit>>20))
	line("imports of WASI", strings.Join(m.Imports, ", "))
	if m.CodeSize > 0 {
		line("compiled", fmt.Sprintf("%d KiB of code in the cache, made in %d ms", m.CodeSize>>10, m.CompileMillis))
	}
	if m.unkept != "" {
		line("compiled", "at every start, since nothing could be kept in "+m.unkept+": is there room?")
	}
	line("loaded", fmt.Sprintf("in %d ms of its start", m.LoadMillis))
	isolation := string(m.Isolation) + ", a process of its own"
	if m.Isolation == wasi.Inline {
		isolation = string(m.Isolation) + ", within zot"
	}
	line("isolation", isolation)
	enforced := []string{"WebAssembly's own walls"}
	for _, wall := range m.Enforced {
		enforced = append(enforced, string(wall))
	}
	line("enforced here", strings.Join(enforced, ", "))
}
