package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

// CheckFile reads one settings file as a layer would and returns its faults. An
// error says that there is nothing to read.
func CheckFile(layer Layer, path string, o Options) ([]Problem, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	data, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	file, err := document.Parse(path, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return []Problem{{Layer: layer, Source: path, Pos: syntax.Pos, Message: syntax.Msg, text: data}}, nil
	}
	_, problems := readFile(layer, file, o.base(layer, filepath.Dir(path)))
	return problems, nil
}

// FileOf returns the settings file of a layer: the one that exists, else the
// one that saving would make.
func (o Options) FileOf(layer Layer) (string, error) {
	for _, f := range o.files() {
		if f.Layer == layer {
			return LayerPath(f.Path)
		}
	}
	return "", errors.New("the " + layer.String() + " layer has no file here")
}

// LayerOf tells which layer reads the file at path; a file that none reads
// counts as the user's.
func (o Options) LayerOf(path string) Layer {
	abs, err := filepath.Abs(path)
	if err != nil {
		return User
	}
	for _, f := range o.files() {
		if home.Real(f.Path) == home.Real(filepath.Dir(abs)) {
			return f.Layer
		}
	}
	if dir := filepath.Dir(abs); filepath.Base(dir) == ".zot" {
		return Project // of a project other than this
	}
	return User
}

// PrepareLocal makes the folder of the local layer and tells git to ignore it.
func PrepareLocal(projectRoot string) error {
	dir := home.LocalConfigDir(projectRoot)
	if err := home.EnsureDir(dir); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); err == nil {
		return nil
	}
	return home.WriteFile(ignore, []byte("*\n"), 0o644)
}
