package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// list is the to-do list and the row that is selected. Panel and tool use it
// at the same time.
type list struct {
	mu       sync.Mutex // guards all below
	path     string
	items    []item
	selected int
}

type item struct {
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// open reads the list in a folder; a file that is not there is an empty list.
func (l *list) open(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := filepath.Join(dir, "todos.json")
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &l.items)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil { // path stays empty: a file that cannot be read is not written over
		return fmt.Errorf("reading %s: %w", path, err)
	}
	l.path = path
	return nil
}

// save replaces the file as a whole. l.mu is held.
func (l *list) save() error {
	if l.path == "" {
		return errors.New("the list could not be read and is not saved")
	}
	data, err := json.MarshalIndent(l.items, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(l.path+".new", l.path)
}

func (l *list) add(text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item{Text: text})
	return l.save()
}

// key does what a key of the panel means.
func (l *list) key(key, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.items) == 0:
		return nil
	case key == "up":
		l.selected = max(0, l.selected-1)
	case key == "down":
		l.selected = min(len(l.items)-1, l.selected+1)
	case key == "enter":
		l.items[l.selected].Done = !l.items[l.selected].Done
		return l.save()
	case key == "rune" && text == "d":
		l.items = slices.Delete(l.items, l.selected, l.selected+1)
		l.selected = max(0, min(l.selected, len(l.items)-1))
		return l.save()
	}
	return nil
}

// lines draws the list. The mark before a line has zot draw it as selected.
func (l *list) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) == 0 {
		return []string{"nothing to do; add something with /todo TEXT"}
	}
	var out []string
	for i, it := range l.items {
		mark, box := "  ", "□"
		if i == l.selected {
			mark = "▸ "
		}
		if it.Done {
			box = "✓"
		}
		out = append(out, mark+box+" "+it.Text)
	}
	return out
}
