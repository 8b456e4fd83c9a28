package mancmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
)

// tree is a small command line.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "zot [flags] [prompt]", Short: "An agent", Long: "Talks.\n\n  zot -p \"hi\"   one\n  zot            two\n\nAnd more.", RunE: func(*cobra.Command, []string) error { return nil }}
	root.Flags().BoolP("print", "p", false, "print and leave")
	root.Flags().String("session", "", "resume this `path or id`")
	root.Flags().Bool("secret", false, "x")
	_ = root.Flags().MarkHidden("secret")
	config := &cobra.Command{Use: "config", Short: "Show settings"}
	set := &cobra.Command{Use: "set KEY VALUE", Short: "Save one", Run: func(*cobra.Command, []string) {}}
	config.PersistentFlags().String("home", "", "folder of state")
	set.Flags().String("layer", "user", "layer to write")
	config.AddCommand(set)
	root.AddCommand(config, &cobra.Command{Use: "gone", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	streams, _, errs := iostreams.Test("")
	root := tree()
	root.AddCommand(New(streams))
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	if got := strings.Join(names, " "); got != "zot-completion-bash.1 zot-completion-fish.1 zot-completion-powershell.1 zot-completion-zsh.1 zot-completion.1 zot-config-set.1 zot-config.1 zot.1" {
		t.Errorf("wrote %s", got)
	}
	if !strings.Contains(errs.String(), "wrote 8 manual pages") {
		t.Errorf("said %q", errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "zot.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`.TH ZOT 1 "" "zot"`, ".SH NAME\nzot \\- An agent\n", ".SH SYNOPSIS\n\\fBzot\\fP [flags] [prompt]\n",
		".PP\n.nf\n.RS 2\nzot \\-p \"hi\"   one\nzot            two\n", ".fi\n", "\\fB\\-p, \\-\\-print\\fP\nPrint and leave.\n",
		"\\fB\\-\\-session path or id\\fP\nResume this path or id.\n", "\\fBconfig\\fP", "\\fBset\\fP KEY VALUE", ".SH EXIT STATUS\n", "zot\\-config(1)",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is missing from\n%s", part, text)
		}
	}
	for _, part := range []string{"secret", "gone", "FOLDER"} {
		if strings.Contains(string(text), part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
	again, err := Page(tree())
	if err != nil {
		t.Fatal(err)
	}
	if once, _ := Page(tree()); once != again {
		t.Error("the same command must give the same page")
	}
}

func TestRequestsInText(t *testing.T) {
	var r roff
	r.Text("one\n.two\n'three\\n")
	if got := r.String(); got != "one\n\\&.two\n\\&'three\\en\n" {
		t.Errorf("got %q", got)
	}
}
