package iostreams

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/schemas"
)

// WriteJSON writes a value to standard output as JSON for people and programs.
func (s *Streams) WriteJSON(value any) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// Count is a number of things in words: "1 policy", "2 policies". noun names one.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Printable is text of several lines that may hold a stranger's words, fit for a
// terminal: what would steer it or turn the reading direction is written as its
// code.
func Printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = schemas.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Confirm asks a question that is answered by yes or no. Without a terminal
// nobody can answer, and the flag --yes has to say it.
func (s *Streams) Confirm(question string) (bool, error) {
	if !s.InTerminal {
		return false, &exit.UsageError{Err: errors.New("nobody is there to be asked; say --yes")}
	}
	fmt.Fprintf(s.Err, "%s [y/N] ", Printable(question))
	line, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && line == "" {
		return false, nil
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
