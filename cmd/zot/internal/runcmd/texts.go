package runcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/systemprompt"
	"github.com/patriceckhart/zot/runtime/tool"
)

// texts are what the model is told besides the conversation: the skills and the
// instruction files. They are looked for again with each reload.
type texts struct {
	run  *run
	asks bool // somebody is there to say whether to trust the project
	// decided is closed once that was said and taken over; nil where nobody is
	// asked.
	decided chan struct{}
	settles sync.Once
	plans   int // of extensions so far; guarded by the planner's caller

	mu   sync.Mutex
	set  *skill.Set
	told map[string]bool // lines that were said
}

// settle says that the question is out of the way. It may be called twice.
func (t *texts) settle() { t.settles.Do(func() { close(t.decided) }) }

// settled waits until the question whether to trust the project is out of the
// way: the first prompt must not be quicker than the answer.
func (t *texts) settled(ctx context.Context) {
	if t.decided == nil {
		return
	}
	select {
	case <-t.decided:
	case <-ctx.Done():
	}
}

// skills are those of the session now.
func (t *texts) skills() *skill.Set {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.set
}

// plan looks for the skills again before the extensions are planned anew, for
// those of a bundle come and go with them.
func (t *texts) plan() extension.Plan {
	plan := t.run.planner.plan()
	if t.plans++; t.plans > 1 {
		t.find(t.run.planner.workspace())
	}
	return plan
}

// find looks for the skills, and says which are broken.
func (t *texts) find(w *workspace.Workspace) {
	set := &skill.Set{}
	if !t.run.flags.NoSkill && w.Settings.Config.Skills.Enabled {
		set = skill.Discover(t.options(w))
	}
	t.mu.Lock()
	t.set = set
	t.mu.Unlock()
	for _, p := range set.Problems {
		t.once("warn", "skill "+p.String())
	}
	for _, what := range w.Unpinned() {
		t.once("warn", "not used, whatever you agree to: "+what)
	}
	if names := t.heldSkills(w); len(names) > 0 && !t.asks {
		t.once("info", fmt.Sprintf("skills of this project are held back until you trust it (--trust, or open zot here to be asked): %s", strings.Join(names, ", ")))
	}
}

// once says a line the first time.
func (t *texts) once(level, text string) {
	t.mu.Lock()
	said := t.told[text]
	t.told[text] = true
	t.mu.Unlock()
	if !said {
		t.run.report(event.Notice{Level: level, Text: text})
	}
}

func (t *texts) options(w *workspace.Workspace) skill.Options {
	return skill.Options{
		Cwd: w.CWD, Home: w.Home.Dir(), UserHome: w.UserHome, Bundles: t.bundles(w), Dirs: w.Settings.Config.Skills.Dirs,
		Admit: func(path string, from skill.Source) bool { return admitsSkill(w, path, from) },
	}
}

// admitsSkill tells whether a skill in a folder may be used: those of the project
// where they are as its user approved them.
func admitsSkill(w *workspace.Workspace, path string, from skill.Source) bool {
	if from.InProject() || from == skill.Extra && gate.OfProject(w.ProjectRoot, path) {
		return w.Vouches(path, true)
	}
	return true
}

// bundles are the skills of the extensions that load.
func (t *texts) bundles(w *workspace.Workspace) []skill.Bundle {
	found, err := w.Extensions(t.run.flags.Ext, t.run.flags.NoExt, version.Number)
	if err != nil {
		return nil // the planner reports it
	}
	var all []skill.Bundle
	for _, c := range found.Loading() {
		if len(c.Manifest.Skills) > 0 {
			all = append(all, skill.Bundle{
				Extension: c.Name, Dir: c.Dir, Entries: c.Manifest.Skills, Explicit: c.Scope == discovery.ScopeFlag,
			})
		}
	}
	return all
}

// heldSkills names the skills of the project that its user has not approved as
// they are, but could.
func (t *texts) heldSkills(w *workspace.Workspace) []string {
	if t.run.flags.NoSkill || !w.Settings.Config.Skills.Enabled {
		return nil
	}
	held := skill.Discover(skill.Options{
		Cwd: w.CWD, Dirs: w.Settings.Config.Skills.Dirs, SkipBuiltin: true,
		Admit: func(path string, from skill.Source) bool { return !admitsSkill(w, path, from) && w.Pins(path) },
	})
	var names []string
	for _, s := range held.Skills {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// heldFiles are the instruction files that are not shown as trusted ones.
func (t *texts) heldFiles(w *workspace.Workspace) []string {
	if t.run.flags.NoContextFiles || !w.Settings.Config.ContextFiles.Enabled {
		return nil
	}
	var files []string
	for _, path := range systemprompt.Candidates(w.Home.Dir(), w.CWD) {
		if _, err := os.Stat(path); err == nil && filepath.Dir(path) != w.Home.Dir() && t.admit(w, path) != systemprompt.Trusted {
			files = append(files, path)
		}
	}
	return files
}

// held lists what the project would tell the model that its user has not
// approved, for the question whether to trust it.
func (t *texts) held(w *workspace.Workspace) []string {
	var lines []string
	if w.Settings.Config.ContextFiles.Untrusted == "ask" {
		for _, path := range t.heldFiles(w) {
			lines = append(lines, "instructions for the model: "+path)
		}
	}
	if names := t.heldSkills(w); len(names) > 0 {
		lines = append(lines, "skills: "+strings.Join(names, ", "))
	}
	return lines
}

// admit says how an instruction file enters the prompt: one of the project as its
// user approved it. Those in the user's own folders, and not in the project, are
// the user's; those above the project come with the trust in it.
func (t *texts) admit(w *workspace.Workspace, path string) systemprompt.Admission {
	inside := gate.OfProject(w.ProjectRoot, path)
	own := w.UserHome != "" && home.Inside(path, w.UserHome) && !inside
	switch how := w.Settings.Config.ContextFiles.Untrusted; {
	case own, !inside && w.Trusted, w.Vouches(path, false):
		return systemprompt.Trusted
	case how == "skip", how == "ask" && t.asks:
		return systemprompt.KeptOut
	}
	return systemprompt.Untrusted
}

// prompt assembles the system prompt from the tools at hand.
func (t *texts) prompt(tools []tool.Spec) string {
	w, f := t.run.planner.workspace(), t.run.flags
	o := systemprompt.Options{
		Home: w.Home.Dir(), Cwd: w.CWD, Append: f.AppendSystemPrompt, Tools: tools,
		NoContextFiles: f.NoContextFiles || !w.Settings.Config.ContextFiles.Enabled,
		MaxFile:        int(w.Settings.Config.ContextFiles.MaxSize),
		Admit:          func(path string) systemprompt.Admission { return t.admit(w, path) },
	}
	if f.Changed("system-prompt") {
		o.Identity = &f.SystemPrompt
	}
	if set := t.skills(); len(set.ForModel()) > 0 {
		o.Skills = set
	}
	text, report := systemprompt.Build(o)
	for _, line := range report.Notices() {
		t.once("warn", line)
	}
	for _, line := range report.Shown() {
		t.once("info", line)
	}
	return text
}
