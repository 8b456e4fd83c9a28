package auth

import (
	"fmt"
	"log/slog"
	"strings"
)

// placeholder is what a secret shows of itself.
const placeholder = "[secret]"

// A Secret holds text that must not be printed. It is kept in a closure, so
// that not even the printing of a struct that holds one shows it.
type Secret struct{ reveal func() string }

// NewSecret wraps text; empty text gives the zero Secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return text }}
}

// Reveal returns the text, for the place that hands it to its owner.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.reveal == nil }

func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return placeholder
}

// Format prints the placeholder under every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText gives the placeholder to encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives the placeholder to loggers.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Redact puts the placeholder in the place of each secret in text. Secrets
// shorter than four bytes are left alone: they would match everywhere.
func Redact(text string, secrets ...Secret) string {
	for _, s := range secrets {
		if v := s.Reveal(); len(v) >= 4 {
			text = strings.ReplaceAll(text, v, placeholder)
		}
	}
	return text
}
