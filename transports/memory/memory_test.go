package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

func TestContract(t *testing.T) {
	transporttest.Run(t, func(_ testing.TB, p transporttest.Program) transports.Conn {
		return New(func(ctx context.Context, s Stdio) error {
			if p.Name == peer.Stubborn {
				ctx = context.Background()
			}
			return ExitError{Code: peer.Main(ctx, p.Name, peer.Stdio(s))}
		}, Options{Stderr: p.Stderr, MaxFrame: p.MaxFrame})
	})
}

func TestHowAFunctionEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		f      func() error
		code   int
		stderr string
	}{
		{"nil", func() error { return nil }, 0, ""},
		{"exit error", func() error { return fmt.Errorf("leaving: %w", ExitError{Code: 7}) }, 7, ""},
		{"exit error of zero", func() error { return ExitError{} }, 0, ""},
		{"other error", func() error { return errors.New("no disk") }, 1, "no disk\n"},
		{"panic", func() error { panic("out of cheese") }, 2, "panic: out of cheese"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := New(func(context.Context, Stdio) error { return test.f() }, Options{})
			<-conn.Done()
			exit := conn.Exit()
			// The head of a long trace is not kept.
			if exit.Code != test.code || test.name != "panic" && exit.StderrTail != test.stderr {
				t.Errorf("exit = %+v, want code %d, stderr %q", exit, test.code, test.stderr)
			}
		})
	}
}

func TestStopTakesTheStepsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		asked := make(chan time.Duration, 1)
		free := make(chan struct{})
		conn := New(func(ctx context.Context, s Stdio) error {
			<-ctx.Done()
			asked <- time.Since(began)
			<-free // ignores that
			_, err := s.Out.Write([]byte("late\n"))
			return err
		}, Options{})
		exit := conn.Stop(t.Context(), transports.Grace{Exit: 2 * time.Second, Term: time.Second})
		if after := <-asked; exit.Signal != "killed" || after != 2*time.Second || time.Since(began) != 3*time.Second {
			t.Errorf("%v, asked after %v, gone after %v", exit, after, time.Since(began))
		}
		close(free)
		synctest.Wait()
		if frame, err := conn.ReadFrame(); err != io.EOF {
			t.Errorf("after the end came %q, %v", frame, err)
		}
	})
}

func TestWriteDeadlineIsKeptToTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := New(func(ctx context.Context, s Stdio) error {
			<-ctx.Done()
			return nil
		}, Options{})
		began := time.Now()
		err := conn.WriteFrame([]byte(strings.Repeat("x", 1<<20)), began.Add(5*time.Second))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		conn.Stop(t.Context(), transports.Grace{})
	})
}
