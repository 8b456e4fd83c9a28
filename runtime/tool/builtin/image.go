package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // for image.Decode

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

const (
	// maxImageFile is the largest image file that is opened.
	maxImageFile = 64 << 20
	// maxImageSent is the largest image that is handed on: providers take about
	// 5 MB of base64.
	maxImageSent = 3_700_000
	// maxPixels bounds what decoding may cost: a small file can claim any size.
	maxPixels = 100_000_000
)

var imageKinds = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// image returns the picture in r, made smaller where it has to be. It is
// decoded in any case: one broken image would spoil the whole conversation,
// since every later request carries it.
func (t *readTool) image(p paths.Path, r io.Reader, kind string, n int64) (tool.Result, error) {
	if n > maxImageFile {
		return tool.Result{}, fmt.Errorf("the image %q has %s and the most that is opened is %s: make it smaller with bash first", p.Real, size(n), size(maxImageFile))
	}
	data, err := io.ReadAll(io.LimitReader(r, maxImageFile))
	if err != nil {
		return tool.Result{}, err
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return tool.Result{}, fmt.Errorf("%q starts like %s but cannot be read as an image: %w", p.Real, kind, err)
	}
	if cfg.Width*cfg.Height > maxPixels {
		return tool.Result{}, fmt.Errorf("the image %q has %d x %d pixels, which is more than can be opened: make it smaller with bash first", p.Real, cfg.Width, cfg.Height)
	}
	img, err := decodeImage(data, kind)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the image %q is damaged: %w", p.Real, err)
	}
	note := fmt.Sprintf("%q: %s, %d x %d pixels, %s", p.Real, kind, cfg.Width, cfg.Height, size(n))
	small, smallKind, scaled, err := shrink(img, data, kind, t.opts.MaxImageSide)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the image %q: %w", p.Real, err)
	}
	if scaled != "" {
		note += "; " + scaled
	}
	return tool.Result{
		Content: []message.Block{message.Text{Text: "[" + note + "]"}, message.Image{MIMEType: smallKind, Data: small}},
		Status:  tool.Completed,
	}, nil
}

// decodeImage decodes all of an image; of an animation, the first frame.
func decodeImage(data []byte, kind string) (image.Image, error) {
	if kind == "image/gif" {
		return gif.Decode(bytes.NewReader(data))
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	return img, err
}

// shrink returns the bytes to send: those of the file if they fit, else the
// image scaled to the bound and encoded anew, in steps until it is small
// enough. scaled says what was done.
func shrink(img image.Image, data []byte, kind string, side int) (out []byte, outKind, scaled string, err error) {
	b := img.Bounds()
	if b.Dx() <= side && b.Dy() <= side && len(data) <= maxImageSent {
		return data, kind, "", nil
	}
	for try := min(side, max(b.Dx(), b.Dy())); try >= 16; try = try * 3 / 4 {
		w, h := fit(b.Dx(), b.Dy(), try)
		dst := image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.CatmullRom.Scale(dst, dst.Bounds(), img, b, draw.Src, nil)
		if out, outKind, err = encodeImage(dst, kind); err != nil {
			return nil, "", "", err
		}
		if len(out) <= maxImageSent {
			return out, outKind, fmt.Sprintf("shown as %s, %d x %d pixels", strings.TrimPrefix(outKind, "image/"), w, h), nil
		}
	}
	return nil, "", "", errors.New("it cannot be made small enough")
}

// fit scales w and h so that neither is above side nor below 1.
func fit(w, h, side int) (int, int) {
	longest := max(w, h)
	if longest <= side {
		return w, h
	}
	return max(1, w*side/longest), max(1, h*side/longest)
}

// encodeImage keeps photographs photographs; everything else becomes PNG if
// that is small enough, and JPEG if not and nothing shines through.
func encodeImage(img *image.NRGBA, kind string) ([]byte, string, error) {
	var buf bytes.Buffer
	if kind != "image/jpeg" {
		if err := png.Encode(&buf, img); err != nil {
			return nil, "", err
		}
		if buf.Len() <= maxImageSent || !img.Opaque() {
			return buf.Bytes(), "image/png", nil
		}
		buf.Reset()
	}
	err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 85})
	return buf.Bytes(), "image/jpeg", err
}
