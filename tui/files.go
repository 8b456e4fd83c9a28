package tui

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/sahilm/fuzzy"

	"github.com/patriceckhart/zot/tui/screen"
)

// Bounds of the search for files.
const (
	maxFiles    = 20000
	filesFresh  = 5 * time.Second
	filesOffers = 50
)

type filesMsg struct {
	n     int
	items []choice
}

// askFiles looks for files beside the screen.
func (c *completion) askFiles(m *Model, query string) {
	c.filesAsked++
	n, dir, all, ctx := c.filesAsked, m.state.Cwd, m.opt.AllFiles, m.ctx
	m.do(func() tea.Msg {
		return filesMsg{n, matchFiles(fileList(ctx, dir, all), query)}
	})
}

// files takes a list, unless the text has moved on since it was asked for.
func (c *completion) files(m *Model, msg filesMsg) {
	if msg.n != c.filesAsked || c.kind != '@' {
		return
	}
	c.items, c.at, c.first = msg.items, 0, 0
	if len(c.items) == 0 {
		c.kind = 0
	}
}

func matchFiles(all []string, query string) []choice {
	var hits []string
	low := strings.ToLower(query)
	for _, f := range all {
		if strings.Contains(strings.ToLower(f), low) {
			hits = append(hits, f)
		}
	}
	if len(hits) == 0 && query != "" {
		for _, match := range fuzzy.Find(query, all) {
			hits = append(hits, match.Str)
			if len(hits) == filesOffers {
				break
			}
		}
	} else {
		sort.SliceStable(hits, func(i, j int) bool { return rank(hits[i], low) < rank(hits[j], low) })
	}
	out := make([]choice, 0, min(len(hits), filesOffers))
	for _, f := range hits[:min(len(hits), filesOffers)] {
		if f == screen.Line(f) { // a name that cannot be shown as it is cannot be typed either
			out = append(out, choice{text: f})
		}
	}
	return out
}

// rank puts names before folders and short paths before long ones.
func rank(f, query string) int {
	base := strings.ToLower(path.Base(strings.TrimSuffix(f, "/")))
	n := len(f)
	switch {
	case strings.HasPrefix(base, query):
		return n
	case strings.Contains(base, query):
		return n + 1000
	}
	return n + 2000
}

var fileCache struct {
	sync.Mutex
	dir  string
	all  bool
	at   time.Time
	list []string
}

// fileList walks dir, leaving out what .gitignore files name unless all is wanted. A list is used
// again for some seconds, as every typed letter asks for it.
func fileList(ctx context.Context, dir string, all bool) []string {
	fileCache.Lock()
	defer fileCache.Unlock()
	if fileCache.dir == dir && fileCache.all == all && time.Since(fileCache.at) < filesFresh {
		return fileCache.list
	}
	list := walkFiles(ctx, dir, all)
	fileCache.dir, fileCache.all, fileCache.at, fileCache.list = dir, all, time.Now(), list
	return list
}

func walkFiles(ctx context.Context, dir string, all bool) []string {
	var out []string
	rules := []ignoreRule{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil || len(out) >= maxFiles {
			return filepath.SkipAll
		}
		if err != nil {
			if d != nil && d.IsDir() {
				return filepath.SkipDir // not ours to read
			}
			return nil
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if rel == "." {
			if !all {
				rules = append(rules, readIgnore(p, "")...)
			}
			return nil
		}
		if d.Name() == ".git" || ignored(rules, rel, d.IsDir()) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if !all {
				rules = append(rules, readIgnore(p, rel)...)
			}
			rel += "/"
		}
		out = append(out, rel)
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	base    string // folder of the file, relative to the root
	pattern string
	negate  bool
	dirs    bool
}

func readIgnore(dir, base string) []ignoreRule {
	data := readIgnoreFile(filepath.Join(dir, ".gitignore"))
	var out []ignoreRule
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \r")
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{base: base}
		line, r.negate = strings.CutPrefix(line, "!")
		line, r.dirs = strings.CutSuffix(line, "/")
		line = strings.TrimPrefix(line, `\`)
		if i := strings.IndexByte(line, '/'); i < 0 {
			line = "**/" + line // a bare name holds at every depth
		} else {
			line = strings.TrimPrefix(line, "/")
		}
		if r.pattern = line; doublestar.ValidatePattern(line) {
			out = append(out, r)
		}
	}
	return out
}

// readIgnoreFile reads a file of at most a megabyte. A link is not followed, as
// git does not either: a repository can have one to a device.
func readIgnoreFile(path string) []byte {
	const most = 1 << 20
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || len(data) > most {
		return nil
	}
	return data
}

// ignored applies the rules in order; the last one that matches decides.
func ignored(rules []ignoreRule, rel string, dir bool) bool {
	out := false
	for _, r := range rules {
		name := rel
		if r.base != "" {
			var under bool
			if name, under = strings.CutPrefix(rel, r.base+"/"); !under {
				continue
			}
		}
		if r.dirs && !dir {
			continue
		}
		if ok, err := doublestar.Match(r.pattern, name); err == nil && ok {
			out = !r.negate
		}
	}
	return out
}
