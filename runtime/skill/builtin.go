package skill

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed builtin/*/SKILL.md
var builtinFiles embed.FS

// builtins adds the skills of the program.
func (b *builder) builtins() {
	files, err := fs.Glob(builtinFiles, "builtin/*/"+FileName)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, file := range files {
		data, err := builtinFiles.ReadFile(file)
		if err != nil {
			panic(err) // an embedded file can be read
		}
		b.add(data, Skill{
			Name: path.Base(path.Dir(file)), Source: Builtin,
			files: builtinFiles, entry: file,
		})
	}
}
