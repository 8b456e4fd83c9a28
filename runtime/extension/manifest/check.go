package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/patriceckhart/zot/schemas"
)

// A checker looks at what a schema cannot say.
type checker struct {
	m                *Manifest
	doc              *schemas.Document
	faults, warnings []schemas.Problem
}

func (c *checker) check() {
	c.checkName()
	c.checkKind()
	for i, path := range c.m.Skills {
		c.checkSkill("/skills/"+strconv.Itoa(i), path)
	}
	c.checkMinZot()
}

func (c *checker) problem(pointer, message, remedy string) schemas.Problem {
	pos := c.doc.Position(pointer)
	return schemas.Problem{Kind: schemas.KindValue, Pointer: pointer, Line: pos.Line, Column: pos.Column,
		Message: message, Remedy: remedy}
}

func (c *checker) fault(pointer, message, remedy string) {
	c.faults = append(c.faults, c.problem(pointer, message, remedy))
}

func (c *checker) warn(pointer, message, remedy string) {
	c.warnings = append(c.warnings, c.problem(pointer, message, remedy))
}

func (c *checker) checkName() {
	if err := CheckName(c.m.Name); err != nil {
		c.fault("/name", err.Error(), "choose another name")
	}
}

func (c *checker) checkKind() {
	m := c.m
	switch {
	case strings.ContainsRune(m.Exec, 0):
		c.fault("/exec", "exec contains a NUL character", "")
	case m.Exec == "" && m.Theme == "" && len(m.Skills) == 0:
		p := c.problem("/exec", `"exec" is missing`, `add "exec": the program to run; or bring a theme.json or "skills", which need none`)
		p.Kind = schemas.KindMissing
		c.faults = append(c.faults, p)
	case m.Exec == "" && m.Transport != "":
		c.warn("/transport", "transport has no effect without exec", "remove it")
		m.Transport = ""
	}
}

// checkSkill keeps skills inside the folder, also through links: what a skill
// says is put before the model.
func (c *checker) checkSkill(pointer, path string) {
	const remedy = "write a relative path to something inside the extension's folder"
	if strings.Contains(path, `\`) || !filepath.IsLocal(filepath.FromSlash(path)) {
		c.fault(pointer, fmt.Sprintf("skill path %q leads out of the extension's folder (ZP082)", path), remedy)
		return
	}
	full := filepath.Join(c.m.Dir, filepath.FromSlash(path))
	if _, err := os.Stat(full); err != nil {
		c.warn(pointer, fmt.Sprintf("skill path %q is not there", path), "")
		return
	}
	if !staysInside(c.m.Dir, full) {
		c.fault(pointer, fmt.Sprintf("skill path %q is a link out of the extension's folder (ZP082)", path), remedy)
	}
}

func staysInside(dir, path string) bool {
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	realPath, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(realDir, realPath)
	return err == nil && filepath.IsLocal(rel)
}

func (c *checker) checkMinZot() {
	if c.m.MinZot == "" {
		return
	}
	if _, err := semver.NewVersion(c.m.MinZot); err != nil {
		c.fault("/minZot", fmt.Sprintf("minZot %q is not a version", c.m.MinZot), `write it like "0.1.0"`)
	}
}

// CheckZot says whether the manifest's minZot lets it run in the given version
// of zot. A version that is not SemVer (a build from a working copy) is taken
// to be new enough.
func (m *Manifest) CheckZot(version string) error {
	if m.MinZot == "" {
		return nil
	}
	need, err := semver.NewVersion(m.MinZot)
	if err != nil {
		return nil // Load has refused it
	}
	have, err := semver.NewVersion(version)
	if err != nil {
		return nil
	}
	// A build on the way to a version has what that version brings.
	if released, err := have.SetPrerelease(""); err != nil || !released.LessThan(need) {
		return nil
	}
	return fmt.Errorf("%s needs zot %s or newer, and this is %s; update zot", m.Name, m.MinZot, version)
}
