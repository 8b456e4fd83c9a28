package sessioncmd

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"4h": 4 * time.Hour, "30d": 30 * day, "2w": 14 * day, "1mo": 30 * day, "1y": 365 * day, "100y": 36500 * day,
	} {
		if got, err := parseAge(in); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "d", "0d", "-1d", "5", "5m", "1.5d", "101y", "99999999999h", "1 d"} {
		if got, err := parseAge(in); err == nil {
			t.Errorf("%q = %v, want an error", in, got)
		}
	}
}
