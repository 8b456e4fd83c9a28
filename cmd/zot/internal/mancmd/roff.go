package mancmd

import (
	"fmt"
	"strings"
	"time"
)

// A roff builds the text of a manual page. It leaves out the date, so that the
// same zot makes the same pages, and keeps lines that are indented as they are.
type roff struct {
	b     strings.Builder
	usage string // of the command, for the synopsis
	// inSynopsis says that what comes next is mango's own synopsis, which
	// knows nothing of the command's arguments.
	inSynopsis bool
}

// request writes a line that the formatter acts on.
func (r *roff) request(format string, args ...any) {
	r.EndSection()
	fmt.Fprintf(&r.b, format+"\n", args...)
}

// Heading implements [mango.Builder], as do all methods below.
func (r *roff) Heading(section uint, title, description string, _ time.Time) {
	r.request(".TH %s %d %q %q", strings.ToUpper(title), section, "", title)
}

func (r *roff) Paragraph()    { r.request(".PP") }
func (r *roff) Indent(n int)  { r.request(".RS %d", n) }
func (r *roff) IndentEnd()    { r.request(".RE") }
func (r *roff) List(s string) { r.request(".IP \\(bu 3"); r.Text(s) }

func (r *roff) TaggedParagraph(int) { r.request(".TP") }

func (r *roff) Section(name string) {
	r.request(".SH %s", strings.ToUpper(name))
	if r.inSynopsis = name == "Synopsis"; r.inSynopsis {
		name, rest, _ := strings.Cut(r.usage, "[")
		r.b.WriteString("\\fB" + escape(strings.TrimSpace(name)) + "\\fP")
		if rest != "" {
			r.b.WriteString(" [" + escape(rest))
		}
		r.b.WriteString("\n")
	}
}

// EndSection ends the line.
func (r *roff) EndSection() {
	if text := r.b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		r.b.WriteString("\n")
	}
}

func (r *roff) TextBold(s string)   { r.inline("\\fB" + escape(s) + "\\fP") }
func (r *roff) TextItalic(s string) { r.inline("\\fI" + escape(s) + "\\fP") }

func (r *roff) inline(s string) {
	if !r.inSynopsis {
		r.b.WriteString(s)
	}
}

// Text writes prose. Lines that begin with two spaces are an example.
func (r *roff) Text(s string) {
	if r.inSynopsis {
		return
	}
	example := false
	for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if i > 0 {
			r.EndSection()
		}
		switch indented := strings.HasPrefix(line, "  "); {
		case indented && !example:
			r.request(".PP\n.nf\n.RS 2")
			example = true
		case !indented && example:
			r.request(".RE\n.fi")
			example = false
		}
		if strings.TrimSpace(line) == "" {
			if i > 0 {
				r.request(".PP")
			}
			continue
		}
		if i > 0 {
			line = guard(line)
		}
		r.b.WriteString(escape(strings.TrimPrefix(line, "  ")))
	}
	if example {
		r.request(".RE\n.fi")
	}
}

func (r *roff) String() string { r.EndSection(); return r.b.String() }

// guard keeps a line from being taken for a request.
func guard(line string) string {
	if trimmed := strings.TrimLeft(line, " "); strings.HasPrefix(trimmed, ".") || strings.HasPrefix(trimmed, "'") {
		return `\&` + line
	}
	return line
}

func escape(s string) string {
	return strings.NewReplacer(`\&`, `\&`, `\`, `\e`, "-", `\-`, "’", `\(cq`).Replace(s)
}
