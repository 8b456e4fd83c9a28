// Package systemprompt puts the system prompt together: who the model is, what
// was appended to that, the tools and skills at hand, the instruction files of
// the user and the project, and where and when it works.
//
//	text, report := systemprompt.Build(systemprompt.Options{Home: home, Cwd: cwd, …})
//
// Nothing is cut or left out silently: the report names every file that was
// looked at, and what of it the model does not see.
package systemprompt

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/tool"
)

// Default bounds, in bytes.
const (
	DefaultMaxFile  = 32 << 10
	DefaultMaxTotal = 96 << 10
)

//go:embed identity.md
var identity string

// Options says what to put in. The zero value gives the built-in identity and
// the last two lines.
type Options struct {
	// Identity, if not nil, is used in the place of SYSTEM.md and of the
	// built-in identity; it may be empty.
	Identity *string
	Home     string // $ZOT_HOME, for SYSTEM.md and AGENTS.md; empty skips both
	Cwd      string // absolute; empty skips the project's files
	// Append holds texts that follow the identity, in order.
	Append []string
	// Tools are the tools at hand. Deferred ones are left out.
	Tools []tool.Spec
	// Skills may be nil.
	Skills *skill.Set
	// NoContextFiles leaves out every AGENTS.md.
	NoContextFiles bool
	// Admit, if not nil, is asked what to do with each AGENTS.md outside Home.
	Admit func(path string) Admission
	// MaxFile and MaxTotal bound, in bytes, one instruction file and all of
	// them together; 0 stands for the defaults.
	MaxFile, MaxTotal int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// An Admission says how an instruction file enters the prompt.
type Admission int

// The admissions.
const (
	Trusted   Admission = iota // as it is
	Untrusted                  // with a word that its project is not trusted
	KeptOut                    // not at all, since its project is not trusted
)

// A Report tells what the prompt was made of.
type Report struct {
	// Identity is "flag", "built-in", or the path of the SYSTEM.md.
	Identity string
	// Files lists the instruction files in the order of the prompt, those that
	// were kept out included.
	Files []File
}

// A File is one instruction file that exists.
type File struct {
	Path string
	// Size is the file's size in bytes, and Used how many of them the model
	// sees.
	Size, Used int64
	// Skipped says why nothing of the file is used; empty where it is.
	Skipped string
	// Untrusted says that it is used though its project is not trusted.
	Untrusted bool
}

// Shown has a line for each file that is used though its project is not
// trusted.
func (r Report) Shown() []string {
	var out []string
	for _, f := range r.Files {
		if f.Untrusted && f.Used > 0 {
			out = append(out, f.Path+" is shown to the model, though you have not said to trust this project; --trust does for a run, zot asks when it is opened here, and --no-context-files leaves it out")
		}
	}
	return out
}

// Notices has one line for each file of which something is missing.
func (r Report) Notices() []string {
	var out []string
	for _, f := range r.Files {
		switch {
		case f.Skipped != "":
			out = append(out, fmt.Sprintf("%s was left out: %s", f.Path, f.Skipped))
		case f.Used < f.Size:
			out = append(out, fmt.Sprintf("%s was cut: the last %d of its %d bytes are not in the system prompt", f.Path, f.Size-f.Used, f.Size))
		}
	}
	return out
}

// Build returns the system prompt and what it was made of.
func Build(o Options) (string, Report) {
	b := &builder{left: or(o.MaxTotal, DefaultMaxTotal), perFile: or(o.MaxFile, DefaultMaxFile)}
	b.part(b.identity(o))
	for _, text := range o.Append {
		b.part(text)
	}
	b.part(toolSummary(o.Tools))
	if o.Skills != nil {
		b.part(o.Skills.Prompt())
	}
	if !o.NoContextFiles {
		b.contextFiles(o)
	}
	b.part(surroundings(o))
	return strings.Join(b.parts, "\n\n") + "\n", b.report
}

func or(n, fallback int) int {
	if n <= 0 {
		return fallback
	}
	return n
}

type builder struct {
	parts   []string
	report  Report
	perFile int
	left    int           // bytes that instruction files may still take
	seen    []os.FileInfo // instruction files that were taken
}

func (b *builder) part(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		b.parts = append(b.parts, text)
	}
}

// identity chooses between the flag, SYSTEM.md and the built-in text.
func (b *builder) identity(o Options) string {
	if o.Identity != nil {
		b.report.Identity = "flag"
		return *o.Identity
	}
	if o.Home != "" {
		path := filepath.Join(o.Home, "SYSTEM.md")
		if text, file, ok := readText(path, b.perFile); ok {
			b.report.Files = append(b.report.Files, file)
			if file.Skipped == "" {
				b.report.Identity = path
				return text
			}
		}
	}
	b.report.Identity = "built-in"
	return identity
}

// toolSummary has a line for each tool: its name and the first sentence of
// what it says of itself.
func toolSummary(tools []tool.Spec) string {
	var b strings.Builder
	for _, t := range tools {
		if t.Deferred {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s\n", t.Name, firstSentence(t.Description))
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Tools\n\n" + b.String()
}

const maxSummary = 200 // runes

func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	if r := []rune(s); len(r) > maxSummary {
		s = string(r[:maxSummary]) + "…"
	}
	return s
}

// surroundings holds the day and not the minute, so that the prompt, and what
// a provider caches of it, is the same all day.
func surroundings(o Options) string {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	text := "Current date: " + now().Format(time.DateOnly)
	if o.Cwd != "" {
		text += "\nCurrent working directory: " + o.Cwd
	}
	return text
}
