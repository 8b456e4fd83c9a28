package schemas

import (
	"fmt"
	"sort"
	"strings"
)

// Kind sorts problems by what a reader of the document may do about them: a
// file with an unknown key can still be used, one with a syntax error cannot.
type Kind string

const (
	KindSyntax       Kind = "syntax"        // not JSON; nothing else is known of the document
	KindDuplicateKey Kind = "duplicate-key" // one object has the key twice
	KindUnknownKey   Kind = "unknown-key"   // the schema does not know the key
	KindMissing      Kind = "missing"       // a required key is not there
	KindType         Kind = "type"          // a string where a number belongs
	KindValue        Kind = "value"         // the right type, and not a value that is allowed
)

// A Problem is one thing that is wrong with a document.
type Problem struct {
	Kind Kind `json:"kind"`
	// Pointer is the JSON pointer (RFC 6901) of the value, "" for the whole.
	Pointer string `json:"pointer"`
	// Line and Column count from 1; columns are characters, not bytes. Both
	// are 0 where the place is not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message says what is wrong and with which value.
	Message string `json:"message"`
	// Remedy says what to do, or is empty where the message says all.
	Remedy string `json:"remedy,omitempty"`
}

// String is the problem in one line, without the name of the file.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	b.WriteString(p.Message)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// A FileError says that a file has problems. Callers that need them one by one
// find it with errors.As.
type FileError struct {
	File     string    // path as the user knows it
	Text     []byte    // what was in it; shown around each problem by Render
	Problems []Problem // at least one, in order of place
}

// Error has one line for each problem: file:line:column: what; what to do.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.File + ":" + p.String()
		if p.Line == 0 {
			lines[i] = e.File + ": " + p.String()
		}
	}
	return strings.Join(lines, "\n")
}

// Render shows each problem in its line of the file, as [Render] does.
func (e *FileError) Render() string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(Render(p, e.File, e.Text))
	}
	return b.String()
}

// sortProblems puts problems in the order of their places and drops repeats,
// so that the same document always reads the same.
func sortProblems(problems []Problem) []Problem {
	sort.SliceStable(problems, func(i, j int) bool {
		a, b := problems[i], problems[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		if a.Column != b.Column {
			return a.Column < b.Column
		}
		if a.Pointer != b.Pointer {
			return a.Pointer < b.Pointer
		}
		return a.Message < b.Message
	})
	kept := problems[:0]
	for i, p := range problems {
		if i == 0 || p != problems[i-1] {
			kept = append(kept, p)
		}
	}
	return kept
}
