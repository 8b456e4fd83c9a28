//go:build !windows

package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patriceckhart/zot/tui/tuitest"
)

var update = flag.Bool("update", false, "draw the pictures of the documentation anew")

const pictures = "../../docs/images"

// screenSize is what the line "size WIDTH HEIGHT" of the steps says, or the
// usual one.
func screenSize(steps string) (w, h int) {
	w, h = 100, 40
	if first, _, _ := strings.Cut(steps, "\n"); strings.HasPrefix(first, "size ") {
		_, _ = fmt.Sscanf(first, "size %d %d", &w, &h) // what cannot be read is the usual one
	}
	return w, h
}

// picture waits until the screen shows what a picture of the documentation does,
// or draws that anew. The folder of the scenario is /work there.
func picture(ts *testscript.TestScript, x *tuitest.Terminal, name string, w int) {
	path := filepath.Join(pictures, name)
	draw := func() string {
		rows := x.Rows()
		for i, row := range rows {
			rows[i] = strings.ReplaceAll(row, ts.Getenv("WORK"), "/work")
		}
		return tuitest.SVG(rows, w)
	}
	if *update {
		for range 3 { // until it rests, but for a clock that shows how long something takes
			still := x.Screen()
			if !x.Within(time.Second, func() bool { return still != x.Screen() }) {
				break
			}
		}
		ts.Check(os.WriteFile(path, []byte(draw()), 0o644))
		return
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	want := shown(string(data))
	if !x.Within(waitTime, func() bool { return shown(draw()) == want }) {
		ts.Fatalf("%s does not show what the program shows; go test ./cmd/zot -run TestScenarios/pictures -update\nthe picture:\n%s\nthe program:\n%s",
			path, want, shown(draw()))
	}
}

var (
	svgText  = regexp.MustCompile(`<text x="[^"]*" y="(\d+)"[^>]*>([^<]*)</text>`)
	duration = regexp.MustCompile(`\d+(\.\d+)?(ms|s)\b`)
)

// shown is the text of a picture, row by row and without blanks. Colours do not
// count, since a theme may change, and neither does how long something took, nor
// that it took long enough to be told.
func shown(svg string) string {
	var b strings.Builder
	row := ""
	for _, m := range svgText.FindAllStringSubmatch(svg, -1) {
		if m[1] != row {
			b.WriteString("\n")
			row = m[1]
		}
		b.WriteString(strings.Join(strings.Fields(html.UnescapeString(m[2])), ""))
	}
	return duration.ReplaceAllString(b.String(), "")
}
