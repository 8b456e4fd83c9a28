package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadWholeFileIsJustTheFile(t *testing.T) {
	b := newBench(t)
	const text = "a\n\tb  \n\nc\n"
	b.file("f", text)
	if got := b.ok("read", j{"path": "f"}); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}

func TestReadPages(t *testing.T) {
	b := newBench(t)
	b.file("f", numbered(5000))
	got := b.ok("read", j{"path": "f"})
	has(t, got, "line 2000\n", "[lines 1-2000 of 5000; continue with offset 2001]")
	if strings.Contains(got, "line 2001") {
		t.Error("more than the limit was returned")
	}
	has(t, b.ok("read", j{"path": "f", "offset": 2001}), "line 2001\n", "line 4000\n", "continue with offset 4001")
	got = b.ok("read", j{"path": "f", "offset": 4999, "limit": 100})
	if got != "line 4999\nline 5000\n[lines 4999-5000 of 5000]" {
		t.Errorf("got %q", got)
	}
	has(t, b.ok("read", j{"path": "f", "limit": 1}), "line 1\n[lines 1-1 of 5000; continue with offset 2]")
	b.fails("read", j{"path": "f", "offset": 5001}, "after the end", "5000 lines")
}

func TestReadStopsAtBytes(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat(strings.Repeat("x", 999)+"\n", 100))
	got := b.ok("read", j{"path": "f"})
	if len(got) > 50<<10+200 {
		t.Errorf("%d bytes were returned", len(got))
	}
	has(t, got, "[lines 1-51 of 100; continue with offset 52]")
}

func TestReadCutsLongLines(t *testing.T) {
	b := newBench(t)
	b.file("f", "short\n"+strings.Repeat("ä", 100_000)+"\nend")
	got := b.ok("read", j{"path": "f"})
	has(t, got, "short\n", "[line cut: 193.4 KiB of 195.3 KiB left out]\nend\n", "1 long line cut", "sed -n '2p'", "no newline at the end")
	if strings.Contains(got, "\uFFFD") {
		t.Error("a character was cut in two")
	}
}

func TestReadSaysWhatCannotBeSeen(t *testing.T) {
	b := newBench(t)
	b.file("empty", "")
	has(t, b.ok("read", j{"path": "empty"}), "[the file is empty]")
	b.file("crlf", "a\r\nb\r\n")
	if got := b.ok("read", j{"path": "crlf"}); got != "a\nb\n[line ends are CRLF; edit keeps them]" {
		t.Errorf("got %q", got)
	}
	b.file("mixed", "a\r\nb\n")
	has(t, b.ok("read", j{"path": "mixed"}), "mixed, CRLF and LF")
	b.file("bom", "\ufeffa\n")
	if got := b.ok("read", j{"path": "bom"}); got != "a\n" {
		t.Errorf("got %q", got)
	}
	b.file("latin", "caf\xe9\n")
	has(t, b.ok("read", j{"path": "latin"}), "café\n", "one-byte encoding")
	b.file("both", "café caf\xe9\n")
	has(t, b.ok("read", j{"path": "both"}), "café caf\uFFFD\n", "not UTF-8")
}

func TestReadRefusesBinary(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct{ data, kind string }{
		"elf":    {"\x7fELF\x02\x01\x01\x00\x00\x00", "ELF"},
		"zip":    {"PK\x03\x04abc", "zip"},
		"pdf":    {"%PDF-1.7\n", "pdf"},
		"nul":    {"text\x00text", "octet-stream"},
		"utf16":  {"\xff\xfea\x00b\x00", "UTF-16"},
		"sqlite": {"SQLite format 3\x00\x10", "SQLite"},
	} {
		b.file(name, c.data)
		b.fails("read", j{"path": name}, "binary", c.kind, size(int64(len(c.data))), b.path(name))
		if !strings.HasPrefix(name, "utf") {
			b.fails("edit", edit(name, "a", "b"), "binary", c.kind)
		}
	}
}

func TestReadFolder(t *testing.T) {
	b := newBench(t)
	b.file("d/a.go", "")
	b.file("d/sub/x", "")
	b.link("d/link", "a.go")
	has(t, b.ok("read", j{"path": "d"}), "folder of 3 entries", "a.go\n", "sub/\n", "link (link)\n", "[read one of these")
	for i := range 30 {
		b.file(fmt.Sprintf("many/f%02d", i), "")
	}
	has(t, b.ok("read", j{"path": "many", "limit": 10}), "f09", "[entries 1-10 of 30; continue with offset 11]")
	has(t, b.ok("read", j{"path": "many", "offset": 11, "limit": 10}), "f10", "f19")
}

func picture(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			img.Set(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x * y), 255})
		}
	}
	return img
}

// webpPixel is a WebP image of one pixel.
const webpPixel = "RIFF\x1a\x00\x00\x00WEBPVP8L\r\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

func TestReadImages(t *testing.T) {
	b := newBench(t)
	img := picture(40, 30)
	var p, jp, g bytes.Buffer
	png.Encode(&p, img)
	jpeg.Encode(&jp, img, nil)
	gif.Encode(&g, img, nil)
	for name, c := range map[string]struct{ data, mime string }{
		"wrong-name.txt": {p.String(), "image/png"},
		"a.jpg":          {jp.String(), "image/jpeg"},
		"a.gif":          {g.String(), "image/gif"},
		"a.webp":         {webpPixel, "image/webp"},
	} {
		b.file(name, c.data)
		res := b.run("read", j{"path": name})
		if res.IsError || len(res.Content) != 2 {
			t.Errorf("%s: %s", name, message.TextOf(res.Content))
			continue
		}
		got := res.Content[1].(message.Image)
		if got.MIMEType != c.mime || string(got.Data) != c.data {
			t.Errorf("%s came as %s of %d bytes", name, got.MIMEType, len(got.Data))
		}
	}
}

func TestReadScalesLargeImages(t *testing.T) {
	b := newBench(t, func(o *Options) { o.MaxImageSide = 100 })
	var p bytes.Buffer
	png.Encode(&p, picture(400, 200))
	b.file("a.png", p.String())
	res := b.run("read", j{"path": "a.png"})
	has(t, message.TextOf(res.Content), "400 x 200 pixels", "shown as png, 100 x 50 pixels")
	cfg, format, err := image.DecodeConfig(bytes.NewReader(res.Content[1].(message.Image).Data))
	if err != nil || format != "png" || cfg.Width != 100 || cfg.Height != 50 {
		t.Errorf("sent %s %dx%d, %v", format, cfg.Width, cfg.Height, err)
	}
}

func TestReadRefusesBrokenImages(t *testing.T) {
	b := newBench(t)
	var p bytes.Buffer
	png.Encode(&p, picture(40, 30))
	b.file("cut.png", p.String()[:p.Len()/2])
	b.fails("read", j{"path": "cut.png"}, "damaged", b.path("cut.png"))
	b.file("fake.png", "\x89PNG\x0d\x0a\x1a\x0aand so on")
	b.fails("read", j{"path": "fake.png"}, "cannot be read as an image")
	bomb := p.Bytes()
	copy(bomb[16:], []byte{0x7f, 0, 0, 0, 0x7f, 0, 0, 0}) // width and height of the header
	b.file("bomb.png", string(bomb))
	b.fails("read", j{"path": "bomb.png"}, "bomb.png")
}

func TestReadStopsWithItsContext(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.tools["read"].Run(ctx, tool.Call{Args: json.RawMessage(`{"path":"f"}`)}); err == nil {
		t.Error("no error after the context ended")
	}
}
