package gate

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/systemprompt"
)

// sources are the places outside .zot that the project has something at: folders
// that settings name, skills, and instructions for the model.
func (g *Gate) sources() trust.Sources {
	var s trust.Sources
	s.Folders, s.Texts = g.namedFolders()
	for _, dir := range g.upwards() {
		s.Files = append(s.Files, path.Join(dir, systemprompt.FileName))
	}
	for _, dir := range g.ends() {
		for _, folder := range paths.Skills {
			s.Texts = append(s.Texts, path.Join(dir, folder))
		}
	}
	return s
}

// namedFolders are the folders of extensions, and of skills, that settings name.
// Those of the project lie inside it, and others count where they do.
func (g *Gate) namedFolders() (extensions, skills []string) {
	for layer := config.Managed; layer <= config.Flags; layer++ {
		for _, e := range g.opts.Settings.SetBy(layer) {
			key := config.FormatPath(e.Path)
			if key != "extensions.dirs" && key != "skills.dirs" {
				continue
			}
			for _, dir := range e.Value.([]string) {
				switch rel, ok := g.inProject(dir); {
				case !ok || rel == "." && !layer.FromProject():
				case key == "extensions.dirs":
					extensions = append(extensions, rel)
				default:
					skills = append(skills, rel)
				}
			}
		}
	}
	return extensions, skills
}

// upwards are the folders from the project's own down to the working folder.
func (g *Gate) upwards() []string {
	rel, ok := g.inProject(g.opts.CWD)
	out := []string{"."}
	for at := rel; ok && at != "."; at = path.Dir(at) {
		out = append(out, at)
	}
	return out
}

// ends are the project's folder and the working folder.
func (g *Gate) ends() []string {
	if rel, ok := g.inProject(g.opts.CWD); ok && rel != "." {
		return []string{".", rel}
	}
	return []string{"."}
}

// inProject is a path of the project, relative to its folder.
func (g *Gate) inProject(file string) (string, bool) {
	rel, err := filepath.Rel(g.opts.ProjectRoot, file)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// IsInstructions tells whether a path of the project, or the link there, is that
// of instructions for the model.
func IsInstructions(p string) bool {
	p, _, _ = strings.Cut(p, " -> ")
	return path.Base(p) == systemprompt.FileName && !strings.HasPrefix(p, ".zot/")
}

// IsSkill tells whether a path of the project is of skills outside .zot.
func IsSkill(p string) bool {
	return paths.InDeciding(p) && !strings.HasPrefix(p, ".zot/")
}

// Vouches tells whether a file of the project may be acted on: its user approved
// it as it is, and whatever else lies in its folder where it is more than a file
// by itself.
func (g *Gate) Vouches(file string, withFolder bool) bool {
	rel, ok := g.inProject(file)
	if !ok || !g.Trusted {
		return false
	}
	folder := ""
	if withFolder {
		folder = path.Dir(rel)
	}
	if g.asItIs {
		return g.Bundle.Has(rel)
	}
	return g.Approved.Vouches(g.Bundle, rel, folder)
}

// Pins tells whether a file of the project is one whose bytes its user could
// approve. Where nothing of the project can be pinned, all may be there.
func (g *Gate) Pins(file string) bool {
	rel, ok := g.inProject(file)
	return ok && (g.Bundle == nil || g.Bundle.Has(rel))
}
