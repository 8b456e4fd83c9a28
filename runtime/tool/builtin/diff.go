package builtin

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	// maxDiff bounds a diff that is kept for the user's eyes.
	maxDiff = 256 << 10
	// maxShortDiff and maxShortLines bound the one that the model reads.
	maxShortDiff  = 4 << 10
	maxShortLines = 60
)

// A textDiff is a unified diff and what it counts.
type textDiff struct {
	text           string
	added, removed int
}

func (d textDiff) stat() string { return fmt.Sprintf("+%d -%d lines", d.added, d.removed) }

// diffText compares two versions of a file with three lines around each
// change. Bytes that are no characters show as in a read.
func diffText(oldName, newName string, before, after []byte) textDiff {
	return diffContext(oldName, newName, before, after, udiff.DefaultContextLines)
}

func diffContext(oldName, newName string, before, after []byte, context int) textDiff {
	old, now := detect(before).decode(before), detect(after).decode(after)
	u, err := udiff.ToUnifiedDiff(oldName, newName, old, udiff.Lines(old, now), context)
	if err != nil || len(u.Hunks) == 0 {
		return textDiff{}
	}
	d := textDiff{text: cutLines(u.String(), maxDiff, 1<<30)}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				d.added++
			case udiff.Delete:
				d.removed++
			}
		}
	}
	return d
}

// shortDiff is a diff for the model, which knows the file: one line around.
func shortDiff(before, after []byte) string {
	d := diffContext("before", "after", before, after, 1)
	_, body, _ := strings.Cut(d.text, "\n") // the names are known
	_, body, _ = strings.Cut(body, "\n")
	return cutLines(body, maxShortDiff, maxShortLines)
}

// cutLines keeps the whole lines of text that fit and says how many did not.
func cutLines(text string, maxBytes, maxLines int) string {
	kept, lines := 0, 0
	for rest := text; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if kept+len(line)+1 > maxBytes || lines == maxLines {
			return text[:kept] + fmt.Sprintf("[%s of the diff left out]\n", count(countLines([]byte(rest)), "more line"))
		}
		kept, lines, rest = min(kept+len(line)+1, len(text)), lines+1, after
	}
	return text
}
