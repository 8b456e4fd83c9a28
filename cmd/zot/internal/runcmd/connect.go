package runcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/auth"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/session"
)

// A connector makes connections to models from flags, settings, the
// environment and stored credentials.
type connector struct {
	f     *Flags
	cfg   *config.Config
	store *auth.Store
	w     *workspace.Workspace
	// provider and model of a resumed conversation; or empty
	lastProvider, lastModel string
	lastReasoning           string
	// report says that another model is used than the conversation had; nil
	// says nothing.
	report func(text string)
	demo   demoModel
}

// remember notes the model of a resumed conversation. It is used where no flag
// names another.
func (c *connector) remember(m session.Meta) {
	if !c.f.Changed("provider") && !c.f.Changed("model") && !c.f.Changed("base-url") {
		c.lastProvider, c.lastModel = m.Provider, m.Model
	}
	if !c.f.Changed("reasoning") {
		c.lastReasoning = m.Reasoning
	}
}

func newConnector(f *Flags, w *workspace.Workspace) *connector {
	return &connector{f: f, cfg: &w.Settings.Config, store: auth.NewStore(w.Home), w: w}
}

// connect implements host.Options.Connect.
func (c *connector) connect(name, id string) (host.Connection, error) {
	if name != "" || id != "" || c.lastProvider == "" {
		return c.dial(name, id)
	}
	conn, err := c.dial(c.lastProvider, c.lastModel)
	if err == nil {
		return conn, nil
	}
	if conn, otherErr := c.dial("", ""); otherErr == nil {
		if c.report != nil {
			c.report(fmt.Sprintf("this conversation was held with %s %s, which cannot be used (%v); it goes on with %s %s", c.lastProvider, c.lastModel, err, conn.Provider, conn.ID))
		}
		return conn, nil
	}
	return conn, err
}

// dial makes the connection to one choice.
func (c *connector) dial(name, id string) (host.Connection, error) {
	o, err := c.options(name, id)
	if err != nil {
		return host.Connection{}, err
	}
	if err := c.demo.serve(&o); err != nil {
		return host.Connection{}, err
	}
	client, sel, err := provider.New(o)
	if err != nil {
		return host.Connection{}, err
	}
	reasoning := cmp.Or(c.lastReasoning, c.cfg.Reasoning)
	if m := c.cfg.Models[sel.Model.ID]; m != nil && (m.Provider == "" || m.Provider == sel.Provider.ID) {
		if m.Reasoning != nil && !*m.Reasoning {
			reasoning = ""
		}
		if m.Images != nil && !*m.Images {
			client = provider.TextOnly(client)
		}
	}
	return host.Connection{
		Model: agent.Model{
			Client: client, ID: sel.Model.ID, Reasoning: reasoning, Temperature: c.cfg.Temperature,
		},
		Provider: sel.Provider.ID, ContextWindow: sel.Model.Context,
	}, nil
}

// chosen names the provider and model that would be asked, whether they can be
// connected to or not.
func (c *connector) chosen() (name, id string) {
	name, id = c.cfg.Provider, c.cfg.Model
	if c.lastProvider != "" {
		name, id = c.lastProvider, c.lastModel
	}
	o, err := c.options(c.lastProvider, c.lastModel)
	if err != nil {
		return name, id
	}
	if _, sel, _ := provider.New(o); sel.Provider.ID != "" {
		name = sel.Provider.ID
		if sel.Model.ID != "" {
			id = sel.Model.ID
		}
	}
	return name, id
}

// options are the provider's for a choice; empty names take the configured
// ones.
func (c *connector) options(name, id string) (provider.Options, error) {
	catalogue, err := c.catalogue()
	if err != nil {
		return provider.Options{}, err
	}
	o := provider.Options{
		Provider: name, Model: id, Catalogue: catalogue, APIKey: c.f.APIKey,
		Getenv: os.Getenv, Stored: once(c.stored), UserAgent: "zot/" + version.Number,
		HTTP: httpapi.ClientOptions{
			Proxy: c.cfg.HTTPProxy, CAFile: c.cfg.CAFile, Insecure: c.cfg.Insecure, Idle: c.cfg.Timeouts.ModelIdle,
			Connect: c.cfg.Timeouts.ModelConnect,
		},
		// The setting counts the tries after the first.
		Retry: httpapi.Retry{Attempts: c.cfg.Retry.Attempts + 1, Longest: orNone(c.cfg.Retry.MaxWait)},
	}
	if name == "" {
		o.Provider = c.cfg.Provider
	}
	if name == "" || name == c.cfg.Provider || name == "custom" {
		o.BaseURL = c.cfg.BaseURL
		if id == "" {
			o.Model = c.cfg.Model
		}
	}
	if info, err := provider.Choose(o); err == nil {
		if p := c.cfg.Providers[info.ID]; p != nil {
			o.Provider = info.ID
			c.provider(&o, p)
		}
	}
	return o, nil
}

// once remembers the answers of a look-up: it may run a program.
func once(look func(string) (provider.Credential, error)) func(string) (provider.Credential, error) {
	type answer struct {
		cred provider.Credential
		err  error
	}
	known := map[string]answer{}
	return func(name string) (provider.Credential, error) {
		a, ok := known[name]
		if !ok {
			a.cred, a.err = look(name)
			known[name] = a
		}
		return a.cred, a.err
	}
}

// provider adds what the settings say of one provider.
func (c *connector) provider(o *provider.Options, p *config.Provider) {
	if o.BaseURL == "" {
		o.BaseURL = p.BaseURL
	}
	if o.Model == "" {
		o.Model = p.Model
	}
	if p.Type != "" {
		o.API = provider.API(p.Type)
	}
	if p.CAFile != "" {
		o.HTTP.CAFile = p.CAFile
	}
	o.HTTP.Headers = p.Headers
	if p.Timeout > 0 {
		o.HTTP.Idle = p.Timeout
	}
	if o.APIKey == "" && p.APIKeyEnv != "" {
		o.APIKey = os.Getenv(p.APIKeyEnv)
	}
}

// stored looks up a credential that the user keeps, or that a command of the
// settings prints.
func (c *connector) stored(name string) (provider.Credential, error) {
	q := auth.Query{Provider: name, Env: []string{}}
	line := c.cfg.CredentialCommand
	if p := c.cfg.Providers[name]; p != nil && len(p.CredentialCommand) > 0 {
		line = p.CredentialCommand
	}
	if len(line) > 0 && (name == c.cfg.Provider || c.cfg.Providers[name] != nil) {
		q.Command = &auth.Command{Program: line[0], Args: line[1:]}
	}
	cred, err := c.store.Lookup(context.Background(), q)
	var missing *auth.MissingError
	if errors.As(err, &missing) {
		return provider.Credential{}, nil
	}
	if err != nil {
		return provider.Credential{}, err
	}
	return provider.Credential{Key: cred.Secret.Reveal(), BaseURL: cred.BaseURL}, nil
}

// models lists for a client the models that it can change to: those of the
// provider in use, and of all where none is chosen.
func (c *connector) models() []rpcproto.Model {
	catalogue, _ := c.catalogue() // what can be read of it
	out := []rpcproto.Model{}
	used, id := c.chosen()
	for _, m := range modelRows(catalogue, used) {
		out = append(out, rpcproto.Model{
			ID: m.ID, Provider: m.Provider, ContextWindow: m.Context, MaxOutput: m.MaxOutput, Reasoning: m.Reasoning,
		})
	}
	if len(out) == 0 && id != "" { // of a server that only its address tells of
		out = append(out, rpcproto.Model{ID: id, Provider: used})
	}
	return out
}

// secretNames are the environment variables that hold credentials, or zot's
// own secrets: no child gets to see them.
func secretNames(cfg *config.Config) []string {
	names := []string{"ZOTCORE_RPC_TOKEN", "ZOT_API_KEY"}
	for _, p := range provider.All() {
		names = append(names, p.KeyEnv...)
	}
	for _, p := range cfg.Providers {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
