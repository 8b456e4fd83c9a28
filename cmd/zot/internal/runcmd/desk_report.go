package runcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/doctorcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

// Report implements tui.Reports.
func (d *desk) Report(ctx context.Context, topic, args string) (string, error) {
	words := strings.Fields(args)
	switch topic {
	case "policy":
		return d.reportPolicy(ctx, words)
	case "trust":
		return d.reportTrust(ctx, words)
	case "doctor":
		return d.reportDoctor(ctx, words)
	}
	return "", fmt.Errorf("there is no report on %q", topic)
}

// subcommand runs a command of the command line for this session's place, and
// returns what it prints.
func (d *desk) subcommand(ctx context.Context, build func(policycmd.Deps) *cobra.Command, words []string) (string, error) {
	var out bytes.Buffer
	cmd := build(policycmd.Deps{
		Streams: &iostreams.Streams{In: strings.NewReader(""), Out: &out, Err: &out},
		Open:    func(string, string) (*workspace.Workspace, error) { return d.run.w.Again() },
		Version: version.Number, Unenforced: workspace.Unenforced,
	})
	cmd.SetArgs(words)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(ctx)
	text := strings.TrimRight(out.String(), "\n")
	if err != nil {
		return "", errors.New(strings.TrimPrefix(text+"\n"+err.Error(), "\n"))
	}
	return literally(text), nil
}

// literally is text as Markdown shows it letter by letter.
func literally(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// reportPolicy is "zot policy": by itself, what comes of it for each extension.
func (d *desk) reportPolicy(ctx context.Context, words []string) (string, error) {
	if len(words) == 0 {
		words = []string{"show", "--effective"}
	}
	if !slices.Contains([]string{"show", "check", "explain"}, words[0]) {
		return "", fmt.Errorf("/policy knows show, check and explain EXT, not %q; zot policy in a shell has the rest", words[0])
	}
	return d.subcommand(ctx, policycmd.New, words)
}

// reportTrust is "zot trust". What is taken back is gone from this session too.
func (d *desk) reportTrust(ctx context.Context, words []string) (string, error) {
	text, err := d.subcommand(ctx, policycmd.Trust, words)
	if err != nil || len(words) == 0 || words[0] != "revoke" {
		return text, err
	}
	d.run.w.Agree(nil)
	_, err = d.run.host.Reload(ctx, "")
	return text, err
}

// reportDoctor looks at everything zot depends on, or at one subject of it;
// "network" asks the provider as well.
func (d *desk) reportDoctor(ctx context.Context, words []string) (string, error) {
	w, err := d.run.w.Again()
	if err != nil {
		return "", err
	}
	deps := doctorcmd.Deps{Streams: d.run.streams, Version: version.Number, Provider: ProviderOptions, Skills: Skills}
	lines := doctorcmd.Examine(ctx, deps, w, slices.Contains(words, "network"))
	if len(words) == 0 {
		return doctorcmd.Markdown(lines), nil
	}
	some := slices.DeleteFunc(slices.Clone(lines), func(l doctorcmd.Line) bool { return !slices.Contains(words, l.Subject) })
	if len(some) == 0 {
		var subjects []string
		for _, l := range lines {
			subjects = append(subjects, l.Subject)
		}
		return "", fmt.Errorf("the doctor looks at %s, not at %q", strings.Join(slices.Compact(subjects), ", "), strings.Join(words, " "))
	}
	return doctorcmd.Markdown(some), nil
}
