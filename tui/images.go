package tui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/transcript"
)

// maxImage is the largest picture that is taken.
const maxImage = 20 << 20

var imageKinds = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// pasteText puts pasted text into the prompt; the path of a picture becomes the
// picture.
func (m *Model) pasteText(text string) {
	if path, ok := imagePath(text, m.state.Cwd); ok {
		m.do(work(func() func(*Model) {
			img, err := readImage(path)
			return func(m *Model) {
				if err != nil { // a name that only looks like a picture is text
					m.composer.Paste(text)
				} else {
					m.addImage(img)
				}
				m.edited()
			}
		}))
		return
	}
	m.composer.Paste(text)
	m.edited()
}

func (m *Model) addImage(img message.Image) {
	m.composer.AddImage(img, transcript.Image(img).Describe())
}

// imagePath reads what terminals paste for a dropped file: a path, quoted,
// escaped or as a URL.
func imagePath(text, cwd string) (string, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 4096 || strings.Contains(text, "\n") {
		return "", false
	}
	switch strings.ToLower(filepath.Ext(strings.Trim(text, `'"`))) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
	default:
		return "", false
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		return u.Path, true
	}
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		text = text[1 : len(text)-1]
	} else if runtime.GOOS != "windows" {
		text = strings.ReplaceAll(text, `\ `, " ")
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			text = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(cwd, text)
	}
	return text, true
}

func readImage(path string) (message.Image, error) {
	info, err := os.Stat(path)
	if err != nil {
		return message.Image{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxImage {
		return message.Image{}, fmt.Errorf("%s is no picture of at most %d MB", path, maxImage>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return message.Image{}, err
	}
	return imageOf(data)
}

func imageOf(data []byte) (message.Image, error) {
	kind := http.DetectContentType(data)
	if !imageKinds[kind] {
		return message.Image{}, fmt.Errorf("not a picture (%s)", kind)
	}
	return message.Image{MIMEType: kind, Data: data}, nil
}

// clipboardTools print the picture in the clipboard, where they are installed.
var clipboardTools = [][]string{
	{"wl-paste", "--type", "image/png"},
	{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"},
	{"pngpaste", "-"},
}

// pasteImage takes a picture from the clipboard.
func (m *Model) pasteImage() {
	ctx := m.ctx
	m.do(work(func() func(*Model) {
		img, err := clipboardImage(ctx)
		return func(m *Model) {
			if err != nil {
				m.status.set(m, "warn", err.Error(), 3*time.Second)
				return
			}
			m.addImage(img)
			m.edited()
		}
	}))
}

func clipboardImage(ctx context.Context) (message.Image, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found := false
	for _, argv := range clipboardTools {
		bin, err := exec.LookPath(argv[0])
		if err != nil {
			continue
		}
		found = true
		data, err := exec.CommandContext(ctx, bin, argv[1:]...).Output()
		if err == nil && len(data) > 0 && len(data) <= maxImage {
			return imageOf(data)
		}
	}
	if !found {
		return message.Image{}, errors.New("no program to read the clipboard (wl-paste, xclip or pngpaste)")
	}
	return message.Image{}, errors.New("there is no picture in the clipboard")
}
