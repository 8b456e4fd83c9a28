package skill

import (
	"os"
	"path/filepath"
	"strings"
)

// bundles adds the skills of the extensions that are explicit, or of those
// that are not. An extension that occurs twice counts once, the first time.
func (b *builder) bundles(all []Bundle, explicit bool) {
	seen := map[string]bool{}
	for _, bundle := range all {
		name := strings.ToLower(bundle.Extension)
		if !seen[name] && bundle.Explicit == explicit {
			b.bundle(bundle)
		}
		seen[name] = true
	}
}

func (b *builder) bundle(bundle Bundle) {
	real, err := filepath.EvalSymlinks(bundle.Dir)
	if err != nil {
		b.problem(Problem{Path: bundle.Dir, Reason: reason(err)})
		return
	}
	for _, entry := range bundle.Entries {
		b.entry(bundle, real, entry)
	}
}

// entry adds what one entry of a manifest's "skills" names.
func (b *builder) entry(bundle Bundle, realDir, entry string) {
	manifest := filepath.Join(bundle.Dir, "extension.json")
	refuse := func(why string) { b.problem(Problem{Path: manifest, Reason: why}) }
	local := filepath.FromSlash(strings.TrimSpace(entry))
	switch {
	case local == "":
		refuse(`"skills" has an empty entry`)
		return
	case !filepath.IsLocal(local):
		refuse(`"skills": ` + quote(entry) + " leaves the extension's folder")
		return
	}
	path := filepath.Join(bundle.Dir, local)
	info, err := os.Stat(path)
	if err != nil {
		refuse(`"skills": ` + quote(entry) + ": " + reason(err))
		return
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || !inside(realDir, real) {
		refuse(`"skills": ` + quote(entry) + " leaves the extension's folder through a link")
		return
	}
	if !info.IsDir() {
		if filepath.Base(path) != FileName {
			refuse(`"skills": ` + quote(entry) + " must be a folder or a file named " + FileName)
			return
		}
		b.bundleFile(bundle, path, filepath.Base(filepath.Dir(path)))
		return
	}
	w := &walk{root: path, within: realDir, onProblem: b.problem, onFile: func(file, rel string) {
		if rel == "" {
			rel = filepath.Base(path)
		}
		b.bundleFile(bundle, file, rel)
	}}
	w.run()
}

func (b *builder) bundleFile(bundle Bundle, path, rel string) {
	b.file(path, Skill{Name: nameOf(rel), Source: Extension, Extension: bundle.Extension})
}

func quote(s string) string { return `"` + oneLine(s) + `"` }
