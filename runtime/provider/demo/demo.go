// Package demo is a model without intelligence: a server that speaks the
// OpenAI wire on loopback and follows a script, so that the whole of zot can be
// seen at work with no key and no network.
//
//	srv, err := demo.Start(demo.Options{})
//	defer srv.Close()
//	// provider "demo", base URL srv.URL(), model demo.Model
//
// The script is a state machine over what the tools really returned. It reads
// the failing test out of the output that it was sent, looks for the fault in
// the file as it was read, and claims that the tests pass only when their
// output shows it. Where a result is not what the script knows how to go on
// from, it says so and stops. It never pretends to be more than a script.
package demo

// Model is the id of the only model that the server has.
const Model = "scripted-demo"

// Prompt is the text that sets the script going. Any other gets a sentence
// about what this is.
const Prompt = "The tests of this project fail. Find out why, fix it, note it in the changelog, clean up, publish it, and show that they pass."

// DangerousCommand is the command that the script tries in order to be
// refused. It harms nothing: a folder of this name is the demo's own.
const DangerousCommand = "rm -rf ./" + Leftovers

// Leftovers is the folder that the script would like to be rid of.
const Leftovers = "zot-demo-leftovers"

// PublishCommand is the command that the script tries in order to be denied by a
// policy. It harms nothing where it is not: there is no such remote.
const PublishCommand = "git push zot-demo-no-such-remote"

// TestCommand runs the tests of the project.
const TestCommand = "go test ./..."

// ChangelogTool is the tool of an extension that the script calls if it is
// offered, with {"entry": "..."}.
const ChangelogTool = "changelog_add"

// TrashTool is the tool of an extension that the script calls, if it is
// offered, when its dangerous command was refused, with {"path": "..."}.
const TrashTool = "move_to_trash"

// A Step is a part of the script, for showing what is to come.
type Step struct {
	Tool  string // that is called; empty for the summary
	Title string
}

// Steps are the parts of the script in their order.
func Steps() []Step {
	return []Step{
		{"bash", "run the tests and see them fail"},
		{"read", "read the code that the failing test is about"},
		{"edit", "correct the fault"},
		{ChangelogTool, "note it with a tool that an extension provides"},
		{"bash", "try a dangerous command and be refused"},
		{TrashTool, "do it safely, with a tool that another extension provides"},
		{"bash", "try to publish and be denied by the policy"},
		{"bash", "run the tests again and see them pass"},
		{"", "sum up"},
	}
}

// A File is one file of the demo's project.
type File struct{ Name, Text string }

// Project is a small Go module whose test fails. It needs nothing but Go.
func Project() []File {
	return []File{
		{"go.mod", "module example.com/mean\n\ngo 1.21\n"},
		{"mean.go", `// Package mean averages numbers.
package mean

// Mean returns the arithmetic mean of xs, or 0 where there are none.
func Mean(xs ...int) int {
	if len(xs) == 0 {
		return 0
	}
	sum := 0
	for _, x := range xs {
		sum += x
	}
	return sum / (len(xs) - 1)
}
`},
		{"mean_test.go", `package mean

import "testing"

func TestMean(t *testing.T) {
	if got := Mean(2, 4, 9); got != 5 {
		t.Errorf("Mean(2, 4, 9) = %d, want 5", got)
	}
}
`},
		{"CHANGELOG.md", "# Changelog\n"},
		{Leftovers + "/profile.out", "nobody needs this any more\n"},
	}
}

// The fault as it stands in mean.go, and what is right.
const (
	fault      = "sum / (len(xs) - 1)"
	correction = "sum / len(xs)"
)
