package transcript

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // for the size
	_ "image/jpeg" // of pictures
	_ "image/png"  // of these kinds
	"strings"

	_ "golang.org/x/image/webp" // and this one

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
)

// An Image is described and not drawn: "[image 1: 640x480 png 132 KB]".
type Image message.Image

func (i Image) describe(n int) string { return fmt.Sprintf("[image %d: %s]", n, i.Describe()) }

// Describe gives size, kind and bytes: "640x480 png 132 KB".
func (i Image) Describe() string {
	kind := screen.Line(strings.TrimPrefix(i.MIMEType, "image/"))
	size := fmt.Sprintf("%d KB", (len(i.Data)+1023)/1024)
	if cfg, format, err := image.DecodeConfig(bytes.NewReader(i.Data)); err == nil {
		return fmt.Sprintf("%dx%d %s %s", cfg.Width, cfg.Height, format, size)
	}
	return kind + " " + size
}

// A numbered picture of the transcript.
type numbered struct {
	n    int    // from 1, as in the transcript
	line string // what is said of it
}

// pictures are the rows that show pictures, where the terminal can. What they
// hold is changed by Transcript.SetPicture alone.
type pictures struct {
	rows    map[int]placed // by number
	changes int
}

type placed struct {
	rows  []string
	width int
}

// SetPicture gives the rows that show a picture below its description, each so
// many columns wide; no rows take them away.
func (t *Transcript) SetPicture(n int, rows []string, width int) {
	if t.pictures.rows == nil {
		t.pictures.rows = map[int]placed{}
	}
	if len(rows) == 0 {
		delete(t.pictures.rows, n)
	} else {
		t.pictures.rows[n] = placed{rows, width}
	}
	t.pictures.changes++
}

// pictureRows are the rows of a picture, if there are any and they fit.
func (d drawing) pictureRows(n int) []string {
	p, ok := d.pictures.rows[n]
	if !ok || p.width > d.width {
		return nil
	}
	return p.rows
}
