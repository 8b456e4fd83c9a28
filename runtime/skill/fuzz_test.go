package skill

import (
	"errors"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: x\ndescription: Use it: now\n---\nbody",
		"---\ndescription: 'it's'\nallowed-tools:\n\t- a\n---\n", "---\na: &a [*a]\n---\n", "--- \n...\n",
		"---\npermissions: {a: [b]}\ndescription: >-\n  x\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data)
		if err == nil {
			if d.description == "" {
				t.Error("a skill without description was accepted")
			}
			return
		}
		var fault *lineError
		if !errors.As(err, &fault) {
			t.Fatalf("error %v names no line", err)
		}
		if lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 2; fault.line < 1 || fault.line > lines+1 {
			t.Errorf("line %d of %d: %v", fault.line, lines, err)
		}
	})
}
