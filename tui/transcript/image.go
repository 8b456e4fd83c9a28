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
