package tui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/picture"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/transcript"
)

// showImage draws a picture of the conversation on the screen below, until the
// user presses Enter.
func (m *Model) showImage(args string) {
	images := m.transcript.Images()
	protocol := m.pictureProtocol()
	switch {
	case len(images) == 0:
		m.transcript.Say("", "there is no picture in this conversation")
		return
	case protocol == picture.None:
		m.transcript.Say("warn", "this terminal draws no pictures (kitty, Ghostty, WezTerm and iTerm2 do, outside of tmux)")
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(args)); err == nil && n >= 1 && n <= len(images) {
		m.lendImage(protocol, images[n-1])
		return
	}
	p := &dialog.Picker{Title: "pictures", Hint: "enter shows", Pick: func(i int) { m.lendImage(protocol, images[i]) }}
	for i, img := range images {
		p.Items = append(p.Items, dialog.Item{Label: fmt.Sprintf("image %d", i+1), Detail: transcript.Image(img).Describe()})
	}
	m.dialog = p.Start(len(images) - 1)
}

func (m *Model) lendImage(p picture.Protocol, img message.Image) {
	m.lend(func(in io.Reader, out, _ io.Writer) error {
		if err := picture.Write(out, p, img.MIMEType, img.Data); err != nil {
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
