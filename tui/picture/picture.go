// Package picture draws pictures on terminals that can: with kitty's protocol
// (kitty, Ghostty) and with iTerm2's (iTerm2, WezTerm).
//
// [Make] turns a picture into rows of text that stand for it among other rows.
// They are made of kitty's placeholder character, which Clean of package screen
// takes out of everything that others wrote, so that only a picture of ours is
// ever shown. A terminal of kitty's kind draws the picture where the characters
// are; for one of iTerm2's kind each row has a strip of the picture that is
// written in its place. Either way a row is a row: it scrolls, is covered and
// comes back like any other.
//
// [Write] draws a whole picture at the cursor instead.
package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"

	"golang.org/x/image/draw"

	"github.com/patriceckhart/zot/tui/screen"
)

// Protocol says how a terminal takes pictures.
type Protocol int

// The protocols.
const (
	None Protocol = iota
	Kitty
	ITerm
)

// Of goes by what the variables say of the terminal. Inside a multiplexer
// pictures are not passed on.
func Of(vars map[string]string) Protocol {
	if vars["TMUX"] != "" || vars["STY"] != "" || strings.HasPrefix(vars["TERM"], "screen") {
		return None
	}
	switch program := vars["TERM_PROGRAM"]; {
	case vars["KITTY_WINDOW_ID"] != "" || strings.Contains(vars["TERM"], "kitty") || program == "ghostty":
		return Kitty
	case program == "WezTerm" || program == "iTerm.app":
		return ITerm
	}
	return None
}

// A Picture is ready to be shown.
type Picture struct {
	// Lines are what stands in the rows, Width columns each.
	Lines []string
	Width int
	// Before is written once before any of Lines is shown; it may be empty.
	Before string
	// Instead is written in place of the cells of each line; nil where the cells
	// themselves do. Cells are the lines without what stands before them.
	Instead, Cells []string
	// Forget frees what the terminal keeps of it; it may be empty.
	Forget string
}

// Limits of what is drawn: how many columns and rows among text, and how many
// points a picture may have that is decoded at all.
const (
	maxCols   = 60
	maxRows   = 16
	maxPoints = 64 << 20
)

// A cell is taken to be so many points wide and high. Terminals scale to their
// own cells; only the ratio matters.
const (
	cellWidth  = 10
	cellHeight = 20
)

// indent stands before every line, as before the text of a message.
const indent = "  "

// Make makes a picture that fits into width columns. id names it to the terminal
// and must be below 1<<24 and not 0.
func Make(data []byte, p Protocol, id uint32, width int) (*Picture, error) {
	img, err := decode(data)
	if err != nil {
		return nil, err
	}
	cols, rows := size(img.Bounds(), min(width-len(indent), maxCols))
	if cols < 1 || p == None {
		return nil, fmt.Errorf("there is no room for a picture in %d columns", width)
	}
	small := image.NewRGBA(image.Rect(0, 0, cols*cellWidth, rows*cellHeight))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Over, nil)
	out := &Picture{Width: len(indent) + cols}
	for row := range rows {
		out.Cells = append(out.Cells, line(id, row, cols))
		out.Lines = append(out.Lines, indent+out.Cells[row])
	}
	if p == ITerm {
		return out, out.strips(small, cols, rows)
	}
	return out, out.transmit(small, id, cols, rows)
}

// decode reads a picture, unless it would fill the memory.
func decode(data []byte) (image.Image, error) {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading the picture: %w", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPoints/cfg.Height {
		return nil, fmt.Errorf("a picture of %d by %d points is too large to be drawn", cfg.Width, cfg.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading the picture: %w", err)
	}
	return img, nil
}

// size is how many cells a picture gets: its own size, made smaller where that
// is too large.
func size(b image.Rectangle, most int) (cols, rows int) {
	w, h := float64(b.Dx())/cellWidth, float64(b.Dy())/cellHeight
	scale := min(1, float64(most)/w, maxRows/h)
	return max(min(int(w*scale+0.5), most), min(1, most)), max(min(int(h*scale+0.5), maxRows), 1)
}

// rowMarks are the marks by which a placeholder says its row, or its column.
var rowMarks = []rune{
	0x305, 0x30d, 0x30e, 0x310, 0x312, 0x33d, 0x33e, 0x33f, 0x346, 0x34a, 0x34b, 0x34c, 0x350, 0x351, 0x352, 0x357,
}

// line is a row of placeholders. Its colour is the number of the picture; a cell
// without marks follows the one before.
func line(id uint32, row, cols int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm", id>>16&255, id>>8&255, id&255)
	b.WriteRune(screen.PictureCell)
	b.WriteRune(rowMarks[row])
	b.WriteRune(rowMarks[0])
	for range cols - 1 {
		b.WriteRune(screen.PictureCell)
	}
	b.WriteString(screen.Reset)
	return b.String()
}

// transmit hands the whole picture to the terminal under its number.
func (p *Picture) transmit(img image.Image, id uint32, cols, rows int) error {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	var out strings.Builder
	kittyChunks(&out, fmt.Sprintf("a=t,f=100,i=%d,q=2,", id), b.Bytes())
	fmt.Fprintf(&out, "\x1b_Ga=p,U=1,i=%d,c=%d,r=%d,q=2\x1b\\", id, cols, rows)
	p.Before = out.String()
	p.Forget = fmt.Sprintf("\x1b_Ga=d,d=I,i=%d,q=2\x1b\\", id)
	return nil
}

// strips cuts the picture into rows.
func (p *Picture) strips(img *image.RGBA, cols, rows int) error {
	for row := range rows {
		var b bytes.Buffer
		strip := img.SubImage(image.Rect(0, row*cellHeight, cols*cellWidth, (row+1)*cellHeight))
		if err := png.Encode(&b, strip); err != nil {
			return err
		}
		p.Instead = append(p.Instead, fmt.Sprintf("\x1b]1337;File=inline=1;size=%d;width=%d;height=1;preserveAspectRatio=0;doNotMoveCursor=1:%s\a",
			b.Len(), cols, base64.StdEncoding.EncodeToString(b.Bytes())))
	}
	return nil
}
