package config

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

// A Checked is what [CheckFile] found in one file.
type Checked struct {
	Problems []Problem // of the settings, in the order of the file
	Policy   PolicySection
}

// CheckFile reads one settings file as a layer would. An error says that there
// is nothing to read.
func CheckFile(layer Layer, path string, o Options) (Checked, error) {
	section := PolicySection{Layer: layer, Path: path}
	data, err := home.ReadFile(path, document.MaxSize)
	if err != nil {
		return Checked{Policy: section}, err
	}
	file, err := document.Parse(path, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		section.Err = err
		p := Problem{Layer: layer, Source: path, Pos: syntax.Pos, Message: syntax.Msg, Remedy: syntax.Remedy, text: data}
		return Checked{Problems: []Problem{p}, Policy: section}, nil
	}
	d, problems := readFile(layer, file, o.base(layer, filepath.Dir(path)))
	section.File, section.Node, section.Err = file, d.policy, d.policyLost
	return Checked{Problems: problems, Policy: section}, nil
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
