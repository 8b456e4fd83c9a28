// Package install adds extensions to zot's home, brings them up to date,
// removes them and switches them on and off. It never runs code of an
// extension, but for one thing: a bare module has no manifest to say its name,
// and [Options.Greet] may ask it.
//
// # Where things are
//
//	$ZOT_HOME/extensions/NAME           an installed extension; NAME is the manifest's
//	$ZOT_HOME/extensions/.origins       where each came from, and the files it brought
//	$ZOT_HOME/extensions/.staging-…     what is being put together or taken away
//
// Everything is put together in a staging folder beside its target and takes
// its place by renaming, so that an interruption at any moment leaves the old
// state or the new one. A staging folder belongs to the process that holds the
// lock beside it; the next operation clears away those that nobody holds.
//
// # What an update keeps
//
// An extension may keep its state beside its code. The record of the files that
// it brought tells the two apart: every other file in the folder is state and
// is carried over, and stays as it is also where the new version ships a file
// of that name. A file that came with the extension and has been changed stops
// the update, unless it is forced: the changed file is then kept beside the
// new one under its name with ".local" added. The value of "enabled" in the
// manifest is the user's and is no change.
package install

import (
	"context"
	"time"
)

// Options are what every operation needs.
type Options struct {
	Home string // zot's home
	CWD  string // where relative paths start
	// ZotVersion is compared to minZot; empty passes every manifest.
	ZotVersion string
	// AnswerTimeout bounds how long a git server may take to answer at all,
	// 20 s by default; CloneTimeout how long fetching may take, 5 min.
	AnswerTimeout time.Duration
	CloneTimeout  time.Duration
	// Greet asks a bare module what it is called, by running it where it can
	// do no harm. Nil takes the name of the file.
	Greet func(ctx context.Context, module []byte) (Greeting, error)
	// Now is time.Now where it is nil.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.AnswerTimeout <= 0 {
		o.AnswerTimeout = 20 * time.Second
	}
	if o.CloneTimeout <= 0 {
		o.CloneTimeout = 5 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// A Result says what an installation or an update has done.
type Result struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir"`
	Origin  Origin `json:"origin"`
	// Changed is false where an update found nothing to do; Note says why.
	Changed bool   `json:"changed"`
	Note    string `json:"note,omitempty"`
	// Skipped lists what was not copied, Kept what an update left in place,
	// Warnings what the user should know; each a sentence or a path.
	Skipped  []Skip   `json:"skipped,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// testOnlyStep is called before each step that changes something on disk. Tests
// return errors from it, or end the process in it.
var testOnlyStep func(step string) error

func step(name string) error {
	if testOnlyStep == nil {
		return nil
	}
	return testOnlyStep(name)
}
