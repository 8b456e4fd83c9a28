// Package skill finds SKILL.md files, reads what they say of themselves, and
// offers them to a model. A skill is a folder with a text that a model reads
// when a task calls for it; only its name and description are always in view.
//
//	set := skill.Discover(skill.Options{Cwd: cwd, Home: home, UserHome: user})
//	set.Prompt()          the list for the system prompt
//	set.Find("deploy")    one skill
//	skill.NewTool(...)    the tool that hands a skill's text to the model
//
// Every SKILL.md below the searched places is accounted for: it is a skill, or
// shadowed by one of the same name, or a problem with file, line and reason.
package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name that a skill's file must have, to the letter.
const FileName = "SKILL.md"

// MaxFile is the size in bytes above which a skill's file is refused.
const MaxFile = 256 << 10

// A Source says where a skill was found.
type Source string

// The sources, in their order of rank but for [Extension], see [Bundle].
const (
	Project       Source = "project"        // .zot/skills of the project
	Home          Source = "home"           // $ZOT_HOME/skills
	ProjectClaude Source = "project-claude" // .claude/skills of the project
	UserClaude    Source = "user-claude"    // ~/.claude/skills
	ProjectAgents Source = "project-agents" // .agents/skills of the project
	UserAgents    Source = "user-agents"    // ~/.agents/skills
	Extra         Source = "extra"          // a further folder of the settings
	Extension     Source = "extension"      // a bundle
	Builtin       Source = "builtin"        // in the program
)

// InProject reports whether the source is a folder of the project, which may
// be a stranger's.
func (s Source) InProject() bool {
	return s == Project || s == ProjectClaude || s == ProjectAgents
}

// A Skill is what is known of a skill before its text is read.
type Skill struct {
	Name        string
	Description string
	Source      Source
	// Path is the file, absolute; empty for a built-in.
	Path string
	// Extension names the bundle's extension; empty elsewhere.
	Extension string
	// AllowedTools and Permissions are what the skill says it needs: tool
	// names, and per tool the patterns. The guard decides what they mean.
	AllowedTools []string
	Permissions  map[string][]string
	// DisableModelInvocation keeps the skill from the model: only the user
	// calls it.
	DisableModelInvocation bool

	files fs.FS // holds a built-in; nil reads Path
	entry string
}

// Dir is the folder that the files named in the skill's text are relative to;
// empty for a built-in.
func (s Skill) Dir() string {
	if s.Path == "" {
		return ""
	}
	return filepath.Dir(s.Path)
}

// Body reads the skill's text, without its front matter, as it is now.
func (s Skill) Body() (string, error) {
	data, err := s.read()
	if err != nil {
		return "", fmt.Errorf("reading skill %q: %w", s.Name, err)
	}
	doc, err := parse(data)
	if err != nil {
		return "", fmt.Errorf("reading skill %q: %s: %w", s.Name, s.Path, err)
	}
	return doc.body, nil
}

func (s Skill) read() ([]byte, error) {
	if s.files != nil {
		return fs.ReadFile(s.files, s.entry)
	}
	return readFile(s.Path)
}

// Invocation is the message that stands for a user's call of the skill: its
// whole text, its folder, and what the user asked with it.
func (s Skill) Invocation(request string) (string, error) {
	body, err := s.Body()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Follow the skill %q.\n", s.Name)
	if dir := s.Dir(); dir != "" {
		fmt.Fprintf(&b, "Its folder, which its relative paths start from: %s\n", dir)
	}
	fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(body))
	if request = strings.TrimSpace(request); request != "" {
		fmt.Fprintf(&b, "\nThe request: %s\n", request)
	}
	return b.String(), nil
}

// A Problem is a skill that could not be used. Line counts from 1; 0 stands
// for the file as a whole.
type Problem struct {
	Path   string
	Line   int
	Reason string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Reason)
}

// A Shadow is a good skill whose name another one of higher rank has.
type Shadow struct {
	Skill Skill
	By    Skill
}

// readFile reads a regular file of at most MaxFile bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file")
	}
	if info.Size() > MaxFile {
		return nil, fmt.Errorf("%d bytes, more than the %d that a skill may have: move parts of it to files beside it", info.Size(), MaxFile)
	}
	return os.ReadFile(path)
}
