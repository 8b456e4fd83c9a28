//go:build !wasip1

package peer

import (
	"context"
	"os/signal"
	"syscall"
)

func heedSignals(ctx context.Context, name string) context.Context {
	if name == Stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE)
		return ctx
	}
	ctx, _ = signal.NotifyContext(ctx, syscall.SIGTERM)
	return ctx
}
