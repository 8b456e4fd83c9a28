package builtin

import (
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

func textOf(r tool.Result) string { return message.TextOf(r.Content) }

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 50 << 10: "50 KiB", 3 << 30: "3 GiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDiffIsBounded(t *testing.T) {
	d := diffText("a", "b", []byte(strings.Repeat("a\n", 500_000)), []byte(strings.Repeat("b\n", 500_000)))
	if len(d.text) > maxDiff+100 || d.added != 500_000 || d.removed != 500_000 {
		t.Errorf("%d bytes, +%d -%d", len(d.text), d.added, d.removed)
	}
	has(t, d.text, "more lines of the diff left out")
	if short := shortDiff([]byte(numbered(1000)), []byte(strings.ReplaceAll(numbered(1000), "line", "row"))); len(short) > maxShortDiff+100 {
		t.Errorf("the short diff has %d bytes", len(short))
	}
}
