package configcmd

import (
	"fmt"

	"github.com/patriceckhart/zot/cmd/zot/internal/names"
	"github.com/patriceckhart/zot/config"
)

// lookUp looks up what a value that is to be saved names. What is not there
// comes back; it is an error where it is most likely a slip.
func (c *command) lookUp(path []string, value any) (*names.Finding, error) {
	if c.Names == nil || !names.Names(path) {
		return nil, nil
	}
	places, err := c.Names(c.home, c.cwd)
	if err != nil {
		return nil, err
	}
	return places.Save(path, value)
}

// vain looks up what the file of a layer names. What can never be right is a
// fault; of the rest it warns, since a name can be of something that comes later.
func (c *command) vain(layers ...config.Layer) ([]fault, error) {
	if c.Names == nil {
		return nil, nil
	}
	places, err := c.Names(c.home, c.cwd)
	if err != nil {
		return nil, err
	}
	var out, doubts []fault
	for _, layer := range layers {
		for _, e := range places.Workspace.Settings.SetBy(layer) {
			found := places.Check(e.Path, e.Value)
			switch {
			case found == nil:
			case found.Kind == names.Wrong:
				out = append(out, fault{e.Source, e.Pos, shown(e.Source, e.Pos, found.Message, found.Remedy)})
			default:
				doubts = append(doubts, fault{e.Source, e.Pos, shown(e.Source, e.Pos, "warning: "+found.Message, found.Remedy)})
			}
		}
	}
	for _, f := range inOrder(doubts) {
		fmt.Fprint(c.Streams.Err, f.text)
	}
	return out, nil
}
