package tui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/composer"
)

// maxHistoryEntry is the size above which a prompt is not remembered.
const maxHistoryEntry = 64 << 10

// loadHistory reads what was sent before. Lines that cannot be read are left
// out: two programs may have written at once.
func loadHistory(file string, keep int) tea.Cmd {
	if keep <= 0 {
		keep = composer.MaxHistory
	}
	return work(func() func(*Model) {
		items := readHistory(file, keep)
		return func(m *Model) { m.history.Load(items) }
	})
}

func readHistory(file string, keep int) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var items []string
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 2*maxHistoryEntry*6) // JSON may spell a byte in six
	for sc.Scan() {
		var s string
		if json.Unmarshal(sc.Bytes(), &s) == nil && s != "" {
			items = append(items, s)
		}
	}
	if len(items) > 2*keep {
		items = items[len(items)-keep:]
		rewriteHistory(file, items)
	}
	return items
}

// rewriteHistory shortens the file through a second one, so that a failure
// leaves the first whole.
func rewriteHistory(file string, items []string) {
	var b bytes.Buffer
	for _, s := range items {
		line, _ := json.Marshal(s) // a string cannot fail
		b.Write(append(line, '\n'))
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".history-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(b.Bytes())
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // nothing else can be done about it
	}
}

// appendHistory adds one entry. The file is the user's alone.
func appendHistory(file, text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return work(func() func(*Model) {
		if err := writeHistory(file, text); err != nil {
			return func(m *Model) {
				m.opt.HistoryFile = "" // say it once
				m.transcript.Say("warn", "history is not kept: "+err.Error())
			}
		}
		return nil
	})
}

func writeHistory(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line, _ := json.Marshal(text) // a string cannot fail
	_, err = f.Write(append(line, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
