package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"io"
	"strings"
)

// Write draws a picture at the cursor, in its own size. kind is its MIME type.
func Write(w io.Writer, p Protocol, kind string, data []byte) error {
	if p == ITerm {
		_, err := fmt.Fprintf(w, "\x1b]1337;File=inline=1;size=%d;preserveAspectRatio=1:%s\a\n", len(data), base64.StdEncoding.EncodeToString(data))
		return err
	}
	if kind != "image/png" { // the one that the protocol takes
		img, err := decode(data)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			return err
		}
		data = b.Bytes()
	}
	var out strings.Builder
	kittyChunks(&out, "a=T,f=100,", data)
	_, err := io.WriteString(w, out.String()+"\n")
	return err
}

// kittyChunk is the most that kitty's protocol allows in one sequence.
const kittyChunk = 4096

// kittyChunks writes data in pieces, the first with head.
func kittyChunks(w *strings.Builder, head string, data []byte) {
	text := base64.StdEncoding.EncodeToString(data)
	for ; ; head = "" {
		part := text[:min(len(text), kittyChunk)]
		text = text[len(part):]
		more := 0
		if text != "" {
			more = 1
		}
		fmt.Fprintf(w, "\x1b_G%sm=%d;%s\x1b\\", head, more, part)
		if more == 0 {
			return
		}
	}
}
