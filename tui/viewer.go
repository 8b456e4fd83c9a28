package tui

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/transcript"
)

// graphics is a way to draw a picture on a terminal.
type graphics func(w io.Writer, img message.Image) error

// graphicsOf goes by what the terminal says of itself. Inside a multiplexer
// pictures are not passed on.
func (e environment) graphicsOf() graphics {
	if e.vars["TMUX"] != "" || strings.HasPrefix(e.vars["TERM"], "screen") {
		return nil
	}
	switch program := e.vars["TERM_PROGRAM"]; {
	case e.vars["KITTY_WINDOW_ID"] != "" || strings.Contains(e.vars["TERM"], "kitty") || program == "ghostty":
		return kittyImage
	case program == "WezTerm" || program == "iTerm.app":
		return itermImage
	}
	return nil
}

// itermImage is the protocol of iTerm2, which WezTerm knows too.
func itermImage(w io.Writer, img message.Image) error {
	_, err := fmt.Fprintf(w, "\x1b]1337;File=inline=1;size=%d;preserveAspectRatio=1:%s\a\n", len(img.Data), base64.StdEncoding.EncodeToString(img.Data))
	return err
}

// kittyChunk is the most that the protocol allows in one sequence.
const kittyChunk = 4096

// kittyImage sends a PNG in pieces; other kinds are turned into one.
func kittyImage(w io.Writer, img message.Image) error {
	data := img.Data
	if img.MIMEType != "image/png" {
		pic, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("reading the picture: %w", err)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, pic); err != nil {
			return err
		}
		data = b.Bytes()
	}
	text := base64.StdEncoding.EncodeToString(data)
	for head := "a=T,f=100,"; ; head = "" {
		part := text[:min(len(text), kittyChunk)]
		text = text[len(part):]
		more := 0
		if text != "" {
			more = 1
		}
		if _, err := fmt.Fprintf(w, "\x1b_G%sm=%d;%s\x1b\\", head, more, part); err != nil {
			return err
		}
		if more == 0 {
			_, err := io.WriteString(w, "\n")
			return err
		}
	}
}

// showImage draws a picture of the conversation on the screen below, until the
// user presses Enter.
func (m *Model) showImage(args string) {
	images := m.transcript.Images()
	draw := m.env.graphicsOf()
	switch {
	case m.opt.Images == "off":
		draw = nil
	case m.opt.Images == "on" && draw == nil:
		draw = kittyImage
	}
	switch {
	case len(images) == 0:
		m.transcript.Say("", "there is no picture in this conversation")
		return
	case draw == nil:
		m.transcript.Say("warn", "this terminal draws no pictures (kitty, Ghostty, WezTerm and iTerm2 do, outside of tmux)")
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(args)); err == nil && n >= 1 && n <= len(images) {
		m.lendImage(draw, images[n-1])
		return
	}
	p := &dialog.Picker{Title: "pictures", Hint: "enter shows", Pick: func(i int) { m.lendImage(draw, images[i]) }}
	for i, img := range images {
		p.Items = append(p.Items, dialog.Item{Label: fmt.Sprintf("image %d", i+1), Detail: transcript.Image(img).Describe()})
	}
	m.dialog = p.Start(len(images) - 1)
}

func (m *Model) lendImage(draw graphics, img message.Image) {
	m.lend(func(in io.Reader, out, _ io.Writer) error {
		if err := draw(out, img); err != nil {
			return err
		}
		if _, err := io.WriteString(out, "press enter to go back\n"); err != nil {
			return err
		}
		_, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}, func(m *Model, err error) {
		if err != nil {
			m.transcript.Say("error", screen.Clean(err.Error()))
		}
	})
}
