package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

var held []*os.File

// library uses files as programs do, by the standard library: "fill" writes N
// bytes to a file, "hold" opens it N times and keeps it open, "walk" lists what
// is below a folder. The text is the error.
func library(r request) (list []string, text string) {
	var err error
	switch r.Op {
	case "fill":
		err = os.WriteFile(r.Path, make([]byte, r.N), 0o600)
	case "hold":
		for range r.N {
			var f *os.File
			if f, err = os.Open(r.Path); err != nil {
				break
			}
			held = append(held, f)
		}
		list = []string{fmt.Sprint(len(held))}
		for _, f := range held {
			_ = f.Close()
		}
		held = nil
	case "walk":
		err = filepath.WalkDir(r.Path, func(path string, _ fs.DirEntry, err error) error {
			list = append(list, path)
			return err
		})
	}
	if err != nil {
		text = err.Error()
	}
	return list, text
}
