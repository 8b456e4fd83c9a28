package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/auth"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
)

// model lists the credentials that are there, by name, and says which model a
// prompt would go to.
func (v *visit) model() {
	o, err := v.Provider(v.w)
	if err != nil {
		v.add("models.json", Wrong, err.Error(), "")
		return
	}
	have := v.credentials(o)
	// Which model it would be depends on whether there is a key, and not on
	// what it says: programs that print keys are not run.
	o.Stored = func(id string) (provider.Credential, error) { return have[id], nil }
	_, sel, err := provider.New(o)
	if err != nil {
		v.noModel(err)
		return
	}
	value := sel.Provider.ID + "/" + sel.Model.ID
	if sel.Model.Context > 0 {
		value += fmt.Sprintf(", %d tokens", sel.Model.Context)
	}
	v.add("model", OK, value, "")
	v.add("address", Info, sel.BaseURL, "")
	v.add("key", Info, orElse(sel.KeyFrom, "none"), "")
	if o.HTTP.Insecure {
		v.add("certificates", Hint, "any is accepted (insecure)", "name the server's own with caFile instead")
	}
}

// noModel reports why no model could be asked. That none was chosen yet is
// nothing wrong: the demo works without.
func (v *visit) noModel(err error) {
	state := Wrong
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.KindNoModel {
		state = Hint
	}
	value, remedy := parted(err)
	v.add("model", state, value, remedy)
}

// parted cuts what to do off an error of a provider.
func parted(err error) (what, remedy string) {
	var e *model.Error
	if !errors.As(err, &e) || e.Remedy == "" {
		return err.Error(), ""
	}
	return strings.TrimSuffix(err.Error(), "; "+e.Remedy), e.Remedy
}

// credentials reports where keys are, and returns a stand-in for each that is
// stored.
func (v *visit) credentials(o provider.Options) map[string]provider.Credential {
	have := map[string]provider.Credential{}
	stored, err := auth.NewStore(v.w.Home).Entries()
	if err != nil {
		v.add("auth.json", Wrong, err.Error(), "")
	}
	for _, e := range stored {
		have[e.Provider] = provider.Credential{Key: "stored", BaseURL: e.BaseURL}
		state, value, advice := OK, "in auth.json ("+strings.ReplaceAll(e.Kind, "_", " ")+")", ""
		if !e.Expiry.IsZero() && e.Expiry.Before(time.Now()) {
			state, value, advice = Wrong, value+", expired on "+e.Expiry.Format("2006-01-02 15:04 MST"), "zot login "+e.Provider
		}
		v.add(e.Provider, state, value, advice)
	}
	for _, info := range o.Catalogue.Providers() {
		for _, name := range info.KeyEnv {
			if strings.TrimSpace(o.Getenv(name)) != "" {
				v.add(info.ID, OK, "in the variable "+name, "")
			}
		}
	}
	v.fromSettings(have)
	return have
}

// fromSettings adds the credentials that settings tell of.
func (v *visit) fromSettings(have map[string]provider.Credential) {
	c := &v.w.Settings.Config
	if len(c.CredentialCommand) > 0 && c.Provider != "" {
		v.command(have, c.Provider, c.CredentialCommand)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[id]
		if len(p.CredentialCommand) > 0 {
			v.command(have, id, p.CredentialCommand)
		}
		if p.APIKeyEnv == "" {
			continue
		}
		if os.Getenv(p.APIKeyEnv) != "" {
			v.add(id, OK, "in the variable "+p.APIKeyEnv, "")
		} else {
			v.add(id, Hint, "the variable "+p.APIKeyEnv+" is not set", "")
		}
	}
}

func (v *visit) command(have map[string]provider.Credential, id string, line []string) {
	if _, ok := have[id]; !ok {
		have[id] = provider.Credential{Key: "stored"}
	}
	v.add(id, OK, "printed by the program "+line[0]+", which was not run", "")
}

// network asks the provider of the model for its models.
func (v *visit) network() {
	o, err := v.Provider(v.w)
	if err != nil {
		return // said under model
	}
	ctx, cancel := context.WithTimeout(v.ctx, networkTime)
	defer cancel()
	start := time.Now()
	models, err := provider.Discover(ctx, o)
	if err != nil {
		what, remedy := parted(err)
		v.add("provider", Wrong, what, remedy)
		return
	}
	v.add("provider", OK, fmt.Sprintf("answered in %s with %d models", time.Since(start).Round(time.Millisecond), len(models)), "")
}
