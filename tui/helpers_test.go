package tui_test

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui"
)

func commandFunc(next *tui.Outcome, fail *error) func(context.Context, string, string) (tui.Outcome, error) {
	return func(context.Context, string, string) (tui.Outcome, error) { return *next, *fail }
}

// shellFunc answers at once, but "hang" waits until it is stopped.
func shellFunc() func(context.Context, string) (string, int, error) {
	return func(ctx context.Context, line string) (string, int, error) {
		if line == "hang" {
			<-ctx.Done()
			return "", 0, ctx.Err()
		}
		return "out of " + line, 0, nil
	}
}

func blur() tea.Msg { return tea.BlurMsg{} }

// waitFunc is a command that answers only when it is given up.
func waitFunc() func(context.Context, string, string) (tui.Outcome, error) {
	return func(ctx context.Context, _, _ string) (tui.Outcome, error) {
		<-ctx.Done()
		return tui.Outcome{}, ctx.Err()
	}
}
