package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

// Options says where [Load] looks. Sources left empty are left out.
type Options struct {
	Home           home.Home
	ManagedDir     string // folder of the administrator's file; see home.ManagedDir
	ProjectRoot    string
	ProjectTrusted bool
	// ProjectID names the user's own folder for the project inside Home.
	ProjectID string
	Environ   []string // like os.Environ
	Flags     []Override
	UserHome  string // for ~/
	CWD       string // where relative paths in variables and flags start
	// CheckOwner refuses a managed file that others than the administrator
	// could have written. Nil: the platform's own check.
	CheckOwner func(path string) error
}

// An Override sets one setting from the command line.
type Override struct {
	Key   string // as ParsePath takes it
	Value string // in the form that a variable would have
	From  string // the flag, for messages: "--model"
}

// A PolicySection is the policy section of one layer's file, not yet read.
type PolicySection struct {
	Layer Layer
	File  *document.File // nil where the file could not be read
	Path  string         // of the file
	Node  *document.Node // value of "policy"; nil where there is none
	// Err says why the section cannot be relied on: the file is broken, there
	// twice, or open to others. Such a layer fails closed.
	Err error
	// Insecure says that Err is about who may write the file.
	Insecure bool
}

// A LayerFile is a file that was looked for.
type LayerFile struct {
	Layer Layer  `json:"layer"`
	Path  string `json:"path"`
	Found bool   `json:"found"`
	// Held says that the file's preferences wait for the project to be trusted.
	Held bool `json:"held,omitempty"`
	// Broken says that nothing of the file counts; Problems say why.
	Broken bool `json:"broken,omitempty"`
}

// Load reads all layers. It fails only where there is nothing sensible to go on
// with; faults in a layer are in Settings.Problems.
func Load(o Options) (*Settings, error) {
	l := &loader{o: o, s: &Settings{}}
	if o.CheckOwner == nil {
		l.o.CheckOwner = CheckOwner
	}
	l.add(builtinLayer())
	for _, f := range o.files() {
		l.file(f.Layer, f.Path)
	}
	l.environment()
	l.flags()
	if err := l.s.finish(l.layers); err != nil {
		return nil, err
	}
	return l.s, nil
}

// files lists the folders of the layers, lowest first, with Path the folder.
func (o Options) files() []LayerFile {
	var out []LayerFile
	add := func(layer Layer, dir string) {
		if dir != "" {
			out = append(out, LayerFile{Layer: layer, Path: dir})
		}
	}
	add(Managed, o.ManagedDir)
	add(User, string(o.Home))
	if o.ProjectRoot != "" {
		add(Project, home.ProjectConfigDir(o.ProjectRoot))
		add(Local, home.LocalConfigDir(o.ProjectRoot))
	}
	if o.ProjectID != "" && o.Home != "" {
		add(UserProject, o.Home.ProjectDir(o.ProjectID))
	}
	return out
}

func (o Options) base(layer Layer, dir string) base {
	b := base{dir: dir, userHome: o.UserHome}
	switch {
	case layer.FromProject():
		b.dir, b.confined = o.ProjectRoot, true
	case layer == Env || layer == Flags:
		b.dir = o.CWD
	case layer == UserProject:
		b.dir = string(o.Home)
	}
	return b
}

type loader struct {
	o      Options
	s      *Settings
	layers []*layerData
}

func (l *loader) add(d *layerData) { l.layers = append(l.layers, d) }

func (l *loader) problem(p Problem) { l.s.Problems = append(l.s.Problems, p) }

// file reads the layer whose folder is dir.
func (l *loader) file(layer Layer, dir string) {
	path, err := LayerPath(dir)
	found := LayerFile{Layer: layer, Path: path, Held: layer.FromProject() && !l.o.ProjectTrusted}
	section := PolicySection{Layer: layer, Path: path}
	var data []byte
	if err == nil {
		data, err = home.ReadFile(path, document.MaxSize)
	}
	if errors.Is(err, fs.ErrNotExist) && layer == Managed {
		// In a folder that others can write the file may have been taken away.
		if owner := l.o.CheckOwner(dir); owner != nil && !errors.Is(owner, fs.ErrNotExist) {
			err, section.Insecure = owner, true
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.s.Files = append(l.s.Files, found)
		return
	case err == nil && layer == Managed:
		if err = l.o.CheckOwner(path); err != nil {
			section.Insecure = true
		}
	}
	found.Found = true
	l.s.Files = append(l.s.Files, found)
	if err != nil {
		l.broken(section, err)
		return
	}
	file, err := document.Parse(path, data)
	if err != nil {
		l.broken(section, err)
		return
	}
	d, problems := readFile(layer, file, l.o.base(layer, dir))
	l.add(d)
	l.s.Problems = append(l.s.Problems, problems...)
	section.File, section.Node, section.Err = file, d.policy, d.policyLost
	if section.Node != nil || section.Err != nil {
		l.s.Policy = append(l.s.Policy, section)
	}
}

// broken reports a file of which nothing can be used.
func (l *loader) broken(section PolicySection, err error) {
	l.s.Files[len(l.s.Files)-1].Broken = true
	section.Err = err
	l.s.Policy = append(l.s.Policy, section)
	p := Problem{Layer: section.Layer, Source: section.Path, Message: "no setting of this file counts: " + plain(err)}
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		p.Pos, p.Message, p.Remedy = syntax.Pos, syntax.Msg+"; no setting of this file counts", syntax.Remedy
		p.text, _ = home.ReadFile(section.Path, document.MaxSize)
	}
	switch {
	case section.Insecure:
		p.Code = "ZP064"
	case errors.Is(err, fs.ErrPermission):
		p.Remedy = "let the user who runs zot read it"
	}
	l.problem(p)
}

func plain(err error) string {
	var pathErr *fs.PathError
	var notFile *home.NotAFileError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err.Error()
	case errors.As(err, &notFile):
		return "it is a " + notFile.Kind + ", and must be a file"
	}
	return err.Error()
}

// Names of settings files, the first being the one that is made.
const (
	jsonName = "config.json"
	yamlName = "config.yaml"
)

// A TwoFilesError says that a folder has settings in both forms.
type TwoFilesError struct{ JSON, YAML string }

func (e *TwoFilesError) Error() string {
	return fmt.Sprintf("both %s and %s exist; keep one of them", e.JSON, e.YAML)
}

// LayerPath returns the settings file in dir: config.yaml where that exists,
// else config.json, which need not. Both at once are a *TwoFilesError.
func LayerPath(dir string) (string, error) {
	j, y := filepath.Join(dir, jsonName), filepath.Join(dir, yamlName)
	_, errJ := os.Lstat(j)
	_, errY := os.Lstat(y)
	switch {
	case errJ == nil && errY == nil:
		return j, &TwoFilesError{JSON: j, YAML: y}
	case errY == nil:
		return y, nil
	}
	return j, nil
}

func builtinLayer() *layerData {
	d := newLayerData(Builtin, "")
	for i := range table {
		if k := &table[i]; k.Default != nil {
			d.set(strings.Split(k.Name, "."), k.Default, place{})
		}
	}
	return d
}

// ManagedHome returns the "home" that the administrator's settings name, and
// where: file:line:column. It is empty where they name none, and for a file
// that others could have written. Relative paths come back as they are.
func ManagedHome(dir string, checkOwner func(string) error) (value, where string, err error) {
	if checkOwner == nil {
		checkOwner = CheckOwner
	}
	path, err := LayerPath(dir)
	if err != nil {
		return "", "", err
	}
	data, err := home.ReadFile(path, document.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("reading %q: %s", path, plain(err))
	}
	if err := checkOwner(path); err != nil {
		return "", "", err
	}
	file, err := document.Parse(path, data)
	if err != nil {
		return "", "", err
	}
	n := file.Root.Get("home")
	if n == nil || n.Kind != document.String {
		return "", "", nil
	}
	return n.Text, document.Place(path, n.Pos), nil
}
