package extcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
)

// print writes the report for people.
func (r report) print(s *iostreams.Streams) error {
	var b strings.Builder
	b.WriteString(s.Style(s.Out, "1", "zot extension doctor") + "\n")
	for _, d := range r.Extensions {
		d.print(&b, s)
	}
	if len(r.Problems) > 0 {
		b.WriteString("\nload errors:\n")
		for _, text := range r.Problems {
			b.WriteString("  ! " + strings.TrimLeft(indent(text), " "))
		}
	}
	for _, text := range r.Notes {
		b.WriteString("\nnote: " + iostreams.Printable(text) + "\n")
	}
	verdict := "all is well"
	if r.Wrong > 0 {
		verdict = fmt.Sprintf("%d wrong", r.Wrong)
	}
	fmt.Fprintf(&b, "\n%s, %s\n", iostreams.Count(len(r.Extensions), "extension"), verdict)
	_, err := io.WriteString(s.Out, b.String())
	return err
}

func (d diagnosis) print(b *strings.Builder, s *iostreams.Streams) {
	sgr := "32"
	switch {
	case d.Wrong:
		sgr = "31"
	case d.Status == statusDisabled || d.Status == statusShadowed || d.Status == statusHeld:
		sgr = "2"
	}
	fmt.Fprintf(b, "\n%s [%s] %s (%s)\n", s.Style(s.Out, "1", cell(d.Name)), d.Scope, s.Style(s.Out, sgr, string(d.Status)), cell(d.Dir))
	line := func(key, text string) {
		if text != "" {
			// What goes on below is set in, so that it cannot pass for a line of ours.
			text = strings.ReplaceAll(strings.TrimRight(iostreams.Printable(text), "\n"), "\n", "\n    ")
			fmt.Fprintf(b, "  %s: %s\n", key, text)
		}
	}
	line("version", d.Version)
	line("reason", d.Reason)
	line("remedy", d.Remedy)
	line("shadowed by", d.ShadowedBy)
	line("error", d.Error)
	if !d.warningFaults && d.faultText != "" {
		b.WriteString(indent(d.faultText))
	}
	if d.Status == statusTheme || d.Status == statusSkill {
		line("type", string(d.Status))
	}
	line("exec", d.Exec)
	d.printStart(line)
	d.printNames(b)
	line("events", strings.Join(d.Events, ", "))
	line("intercepts", strings.Join(d.Intercepts, ", "))
	line("capabilities", strings.Join(d.Capabilities, ", "))
	line("withheld from its environment", strings.Join(d.Withheld, ", "))
	for _, wall := range d.Unenforced {
		line("not enforced here", wall)
	}
	for _, r := range d.Refused {
		line("refused", refusedText(r))
	}
	for _, text := range d.Warnings {
		line("warning", text)
	}
	if d.warningFaults && d.faultText != "" {
		b.WriteString("  warning: the manifest can be better\n" + indent(d.faultText))
	}
	for _, text := range d.Notes {
		line("note", text)
	}
}

func (d diagnosis) printStart(line func(key, text string)) {
	if d.StartMillis != nil {
		line("start", fmt.Sprintf("ready after %d ms", *d.StartMillis))
	}
	if d.Module != nil {
		d.Module.print(line)
	}
	line("log", d.Log)
}

func (d diagnosis) printNames(b *strings.Builder) {
	list := func(heading, slash string, all []registration) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(b, "  %s:\n", heading)
		for _, r := range all {
			state := "active"
			switch {
			case !d.alive:
				state = "gone"
			case !r.Active:
				state = "shadowed by " + cell(r.By)
			case r.Deferred:
				state = "active, deferred"
			}
			fmt.Fprintf(b, "    %s%s (%s)\n", slash, cell(r.Name), state)
		}
	}
	list("commands", "/", d.Commands)
	list("tools", "", d.Tools)
}
