// Package authcmd is "zot login" and "zot logout": it keeps a provider's API
// key in zot's home, readable by its user alone, and forgets it.
package authcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/auth"
	"github.com/patriceckhart/zot/runtime/provider"
)

// Deps is what the commands need from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Open finds the place to work in; home is the value of the flag, or empty.
	Open func(home string) (*workspace.Workspace, error)
}

// NewLogin returns "zot login".
func NewLogin(d Deps) *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "login PROVIDER",
		Short: "Keep a provider's API key",
		Long: `Reads an API key from the terminal, without showing it, or from standard input,
and keeps it in auth.json in zot's home, which only you can read.`,
		Example: "  zot login openai\n  zot login openrouter <key.txt",
		Args:    oneProvider,
		RunE: func(_ *cobra.Command, args []string) error {
			w, info, err := d.open(home, args[0])
			if err != nil {
				return err
			}
			key, err := d.readKey(info)
			if err != nil {
				return err
			}
			if err := auth.NewStore(w.Home).SetKey(info.ID, auth.NewSecret(key)); err != nil {
				return err
			}
			fmt.Fprintf(d.Streams.Err, "the key for %s is kept in %s\n", info.Name, w.Home.AuthFile())
			return nil
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "folder of zot's state")
	return cmd
}

// NewLogout returns "zot logout".
func NewLogout(d Deps) *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "logout PROVIDER|all",
		Short: "Forget a provider's API key, or all of them",
		Args:  oneProvider,
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "all" {
				return d.forgetAll(home)
			}
			return d.logout(home, args[0])
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "folder of zot's state")
	return cmd
}

// oneProvider wants the name of a provider, and says which there are.
func oneProvider(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return &exit.UsageError{Err: fmt.Errorf("name one provider: zot %s PROVIDER\nproviders with keys: %s", cmd.Name(), strings.Join(keyed(), ", "))}
}

func keyed() []string {
	var ids []string
	for _, p := range provider.All() {
		if p.NeedsKey {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func (d Deps) open(home, name string) (*workspace.Workspace, provider.Info, error) {
	w, err := d.Open(home)
	if err != nil {
		return nil, provider.Info{}, err
	}
	catalogue, err := runcmd.Catalogue(w)
	if err != nil {
		return nil, provider.Info{}, err
	}
	info, ok := catalogue.Provider(name)
	if !ok {
		return w, info, fmt.Errorf("there is no provider %q; providers with keys: %s", name, strings.Join(keyed(), ", "))
	}
	return w, info, nil
}

// readKey reads a key: from a terminal without showing it, else the first line
// of standard input.
func (d Deps) readKey(info provider.Info) (string, error) {
	if !d.Streams.InTerminal {
		line, err := bufio.NewReader(io.LimitReader(d.Streams.In, 64<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the key: %w", err)
		}
		return checkKey(line)
	}
	fmt.Fprintf(d.Streams.Err, "API key for %s (it is not shown): ", info.Name)
	key, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(d.Streams.Err)
	if err != nil {
		return "", fmt.Errorf("reading the key: %w", err)
	}
	return checkKey(string(key))
}

func checkKey(key string) (string, error) {
	if key = strings.TrimSpace(key); key == "" {
		return "", errors.New("no key was given")
	}
	return key, nil
}

// logout forgets the key of a provider, of one too that is described nowhere
// any more.
func (d Deps) logout(home, name string) error {
	w, info, err := d.open(home, name)
	if w == nil {
		return err
	}
	store := auth.NewStore(w.Home)
	if err == nil {
		return d.forget(store, info.ID)
	}
	if had, removeErr := store.Remove(name); removeErr != nil || !had {
		return err
	}
	fmt.Fprintf(d.Streams.Err, "the key for %s is forgotten\n", name)
	return nil
}

func (d Deps) forget(store *auth.Store, id string) error {
	had, err := store.Remove(id)
	if err != nil {
		return err
	}
	if !had {
		return fmt.Errorf("no key for %s is kept", id)
	}
	fmt.Fprintf(d.Streams.Err, "the key for %s is forgotten\n", id)
	return nil
}

func (d Deps) forgetAll(home string) error {
	w, err := d.Open(home)
	if err != nil {
		return err
	}
	store := auth.NewStore(w.Home)
	entries, err := store.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := d.forget(store, e.Provider); err != nil {
			return err
		}
	}
	return nil
}
