package builtin

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// maxCompared bounds the search for the nearest text, in lines of the file.
	maxCompared = 50_000
	// maxQuoted bounds the quotation of it.
	maxQuoted      = 12
	maxQuotedBytes = 300
)

// notFound words a text that is nowhere: what comes nearest, and where the two
// part. "path: oldText was not found" alone would make a model guess.
func notFound(data []byte, enc encoding, e replacement) error {
	file := strings.Split(strings.ReplaceAll(enc.decode(data), "\r\n", "\n"), "\n")
	want := strings.Split(strings.TrimSuffix(strings.ReplaceAll(e.Old, "\r\n", "\n"), "\n"), "\n")
	var b strings.Builder
	b.WriteString("oldText was not found")
	if there(file, e.New) {
		b.WriteString(" (newText is there already: perhaps the edit was made before)")
	}
	at, ok := nearest(file, want)
	if !ok {
		b.WriteString("; nothing in the file is like it: read the file again")
		return errors.New(b.String())
	}
	end := min(at+len(want), len(file))
	fmt.Fprintf(&b, "; the nearest text is at line %d:\n", at+1)
	for i := at; i < min(end, at+maxQuoted); i++ {
		fmt.Fprintf(&b, "%6d | %s\n", i+1, clip(file[i]))
	}
	if end > at+maxQuoted {
		fmt.Fprintf(&b, "       | (%s)\n", count(end-at-maxQuoted, "more line"))
	}
	b.WriteString(parting(file[at:], want, at+1))
	return errors.New(b.String())
}

// parting says where the nearest text and oldText part, in words before white
// space: a difference in indentation alone would have been found.
func parting(file, want []string, line int) string {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) },
		func(a, b string) bool { return a == b },
	} {
		for i := range want {
			if i < len(file) && !same(file[i], want[i]) {
				return fmt.Sprintf("at line %d the file has %q where oldText has %q", line+i, clip(file[i]), clip(want[i]))
			}
		}
	}
	return "the file ends where oldText goes on"
}

// there reports whether the new text is in the file already, if it is long
// enough for that to mean something.
func there(file []string, text string) bool {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return len(strings.TrimSpace(text)) >= 8 && strings.Contains(strings.Join(file, "\n"), text)
}

func clip(s string) string {
	if len(s) <= maxQuotedBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuotedBytes], "") + "…"
}

// nearest returns the index of the line of file from which most lines are
// those of want. Equal lines vote for where want would start; where none is
// equal, the line most like the first line of want decides.
func nearest(file, want []string) (int, bool) {
	file = file[:min(len(file), maxCompared)]
	places := map[string][]int{}
	for i, l := range want {
		if key := strings.TrimSpace(l); len(key) > 1 { // a lone brace says nothing
			places[key] = append(places[key], i)
		}
	}
	votes := map[int]int{}
	best, most := 0, 0
	for i, l := range file {
		key := strings.TrimSpace(l)
		for _, j := range places[key][:min(len(places[key]), 50)] {
			start := max(i-j, 0)
			votes[start] += 1 + len(key)
			if votes[start] > most {
				best, most = start, votes[start]
			}
		}
	}
	if most > 0 {
		return best, true
	}
	return mostAlike(file, want)
}

// mostAlike compares pairs of letters (Dice's measure) of each line with the
// first line of want that has any.
func mostAlike(file, want []string) (int, bool) {
	first := 0
	for first < len(want)-1 && len(strings.TrimSpace(want[first])) < 3 {
		first++
	}
	pairs := bigrams(want[first])
	best, most := 0, 0.4 // less is not alike
	for i, l := range file {
		if len(l) > 10*len(want[first])+100 {
			continue
		}
		if s := alike(pairs, l); s > most {
			best, most = max(i-first, 0), s
		}
	}
	return best, most > 0.4
}

func bigrams(s string) map[string]int {
	s = strings.ToLower(strings.TrimSpace(s))
	m := map[string]int{}
	for i := 0; i+2 <= len(s); i++ {
		m[s[i:i+2]]++
	}
	return m
}

func alike(a map[string]int, line string) float64 {
	line = strings.ToLower(strings.TrimSpace(line))
	total, common := 0, 0
	for _, n := range a {
		total += n
	}
	seen := map[string]int{}
	for i := 0; i+2 <= len(line); i++ {
		pair := line[i : i+2]
		if seen[pair] < a[pair] {
			seen[pair]++
			common++
		}
		total++
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
