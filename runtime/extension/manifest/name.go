package manifest

import (
	"fmt"
	"strings"
)

// MaxName is the length of the longest name.
const MaxName = 64

// A NameError says why a string cannot be the name of an extension.
type NameError struct {
	Name   string
	Reason string
}

func (e *NameError) Error() string { return fmt.Sprintf("name %q %s (ZP080)", e.Name, e.Reason) }

// CheckName tells whether name may be the name of an extension, and with it of
// a folder on every platform: 1 to 64 letters, digits, dots, underscores and
// hyphens, the first one a letter or digit. Names of devices are refused, which
// Windows reserves with any ending, and so is a last dot, which it drops. The
// error is a *NameError.
func CheckName(name string) error {
	switch {
	case name == "":
		return &NameError{name, "is empty"}
	case len(name) > MaxName:
		return &NameError{name, fmt.Sprintf("has %d characters; %d are allowed", len(name), MaxName)}
	case !isAlphanumeric(rune(name[0])):
		return &NameError{name, "must begin with a letter or digit"}
	case strings.ContainsFunc(name, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("._-", r) }):
		return &NameError{name, "may hold only letters, digits, dots, underscores and hyphens"}
	case strings.HasSuffix(name, "."):
		return &NameError{name, "must not end in a dot"}
	case isDevice(name):
		return &NameError{name, "is the name of a device on Windows"}
	}
	return nil
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	rest, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		rest, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && len(rest) == 1 && rest[0] >= '0' && rest[0] <= '9'
}

// Fold is the form in which names are compared: two names that differ only in
// case are the same name.
func Fold(name string) string { return strings.ToLower(name) }
