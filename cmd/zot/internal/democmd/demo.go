// Package democmd is "zot demo": the main job of zot, from a failing test to a
// passing one, with a model that is a script and everything else real. It
// needs no key and no network.
package democmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// options are the flags of the command.
type options struct {
	keep, json bool
	streams    *iostreams.Streams
}

// New returns "zot demo" and its subcommands.
func New(s *iostreams.Streams) *cobra.Command {
	o := &options{streams: s}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See zot at work with a scripted model: no key, no network",
		Long: `The demo makes a small project whose test fails, in a temporary folder, and has
zot mend it: with the real tools, two real extensions (one a WebAssembly module),
a real policy, and a model that is a script and says so. It leaves with status 0
only if the test passes at the end.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.keep, "keep", false, "keep the temporary folder and say where it is")
	cmd.Flags().BoolVar(&o.json, "json", false, "report the events as JSON lines")
	cmd.AddCommand(newServe(s), newExtension())
	return cmd
}

func (o *options) run(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the demo's project is written in Go, and there is no go command in PATH; install Go from https://go.dev/dl")
	}
	place, err := newPlace()
	if err != nil {
		return fmt.Errorf("making the demo's project: %w", err)
	}
	defer o.leave(place)
	srv, err := demo.Start(demo.Options{})
	if err != nil {
		return err
	}
	defer srv.Close()
	if err := place.install(ctx); err != nil {
		return err
	}
	return o.play(ctx, place, srv.URL())
}

// play runs the demo's prompt as any other prompt is run, and then looks for
// itself whether the test passes.
func (o *options) play(ctx context.Context, place *place, url string) error {
	flags, err := runcmd.ParseFlags(
		"--provider", provider.DemoID, "--model", demo.Model, "--base-url", url, "--api-key", "none",
		"--cwd", place.project, "--home", place.home, "--no-context-files", "--no-session", "--no-skill")
	if err != nil {
		return err
	}
	session, err := runcmd.Open(flags, o.streams)
	if err != nil {
		return err
	}
	defer session.Close()
	show := &show{s: o.streams}
	if o.json {
		session.StartJSON()
	} else {
		show.opening(place, url)
		session.Start(show.handle)
	}
	err = session.Host().Run(ctx, host.Prompt{Text: demo.Prompt})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = place.check(ctx)
	}
	if err != nil {
		return fmt.Errorf("the demo did not come to its end: %w", err)
	}
	if !o.json {
		show.closing(session.Host().Usage())
	}
	return nil
}

// leave removes the demo's folder, or says where it is.
func (o *options) leave(place *place) {
	if o.keep {
		fmt.Fprintf(o.streams.Err, "kept: %s\n", place.root)
		return
	}
	if err := os.RemoveAll(place.root); err != nil {
		fmt.Fprintf(o.streams.Err, "zot: removing the demo's folder: %v\n", err)
	}
}

// newServe returns "zot demo serve": the scripted model alone.
func newServe(s *iostreams.Streams) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the scripted model alone, until interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			srv, err := demo.Start(demo.Options{Addr: addr})
			if err != nil {
				return err
			}
			defer srv.Close()
			fmt.Fprintln(s.Out, srv.URL())
			<-cmd.Context().Done()
			return &exit.Error{Code: exit.OK, Silent: true}
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "loopback `address` to listen at")
	return cmd
}
