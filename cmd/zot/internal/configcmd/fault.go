package configcmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/schemas"
)

// A fault is something wrong in a file, of a setting or of the policy.
type fault struct {
	file string
	pos  document.Pos
	text string // as a compiler shows it
}

// faultsOf collects the faults of settings, and those of the policy sections as
// whoever obeys them reads them. Those of one file come in its order.
func faultsOf(problems []config.Problem, sections ...config.PolicySection) []fault {
	var out []fault
	for _, p := range problems {
		out = append(out, fault{p.Source, p.Pos, p.Render()})
	}
	for _, s := range sections {
		section, ok := policies.SectionOf(s)
		if !ok || s.Err != nil { // that has been said of the file
			continue
		}
		for _, p := range policies.Load([]policies.Section{section}).Problems {
			out = append(out, fault{p.File, p.Pos, p.Render()})
		}
	}
	return out
}

// inOrder sorts faults by file, in the order that these come first, and by place.
func inOrder(out []fault) []fault {
	files := map[string]int{}
	for _, f := range out {
		if _, seen := files[f.file]; !seen {
			files[f.file] = len(files)
		}
	}
	slices.SortStableFunc(out, func(a, b fault) int {
		if a.file != b.file {
			return files[a.file] - files[b.file]
		}
		return a.pos.Compare(b.pos)
	})
	return out
}

// check reports the faults of one settings file, and what it names in vain.
func (c *command) check(layer config.Layer, file string, o config.Options) error {
	found, err := config.CheckFile(layer, file, o)
	if err != nil {
		return err
	}
	faults := faultsOf(found.Problems, found.Policy)
	if own, err := o.FileOf(layer); err != nil || home.Real(own) != home.Real(file) {
		return c.tell(faults) // of a file that zot does not read here, nothing can be looked up
	}
	wrong, err := c.vain(layer)
	if err != nil {
		return err
	}
	return c.tell(append(faults, wrong...))
}

// unsaved shows where a file breaks that was to be changed.
func (c *command) unsaved(err error) error {
	var syntax *document.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	fmt.Fprint(c.Streams.Err, shown(syntax.File, syntax.Pos, syntax.Msg+"; the file was left as it is", syntax.Remedy))
	return errTold
}

// shown is a fault of a settings file as a compiler shows it.
func shown(file string, at document.Pos, message, remedy string) string {
	text, _ := home.ReadFile(file, document.MaxSize) // without it the line is not shown
	return schemas.Render(schemas.Problem{Line: at.Line, Column: at.Column, Message: message, Remedy: remedy}, file, text)
}

// tell prints faults, and fails where there are any.
func (c *command) tell(faults []fault) error {
	for _, f := range inOrder(faults) {
		fmt.Fprint(c.Streams.Out, f.text)
	}
	if len(faults) > 0 {
		return errTold
	}
	return nil
}
