package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/patriceckhart/zot/runtime/provider"
)

// Bounds of asking services for their models.
const (
	liveFresh = 6 * time.Hour   // how long an answer counts as new
	liveTime  = 5 * time.Second // how long all of them together have to answer
)

// A liveFile keeps what services said of their models, so that they are not
// asked at each start. It can be deleted at any time.
type liveFile struct {
	Providers map[string]liveList `json:"providers"`
}

type liveList struct {
	Fetched time.Time      `json:"fetched"`
	Models  []catalogModel `json:"models"`
}

func (c *connector) liveFile() string { return c.w.Home.Path("models-cache.json") }

// live reads what is kept; a file that cannot be read is as good as none.
func (c *connector) live() liveFile {
	var f liveFile
	if text, err := os.ReadFile(c.liveFile()); err == nil {
		_ = json.Unmarshal(text, &f)
	}
	return f
}

// models turns what is kept of the known services into entries of a catalogue.
func (f liveFile) models(known *provider.Catalogue) (all []provider.Model) {
	for _, id := range slices.Sorted(maps.Keys(f.Providers)) {
		if _, ok := known.Provider(id); !ok {
			continue
		}
		for _, m := range f.Providers[id].Models {
			all = append(all, m.model(id))
		}
	}
	return all
}

// refreshLive asks the services that can be used now, and whose last answer is
// old, for their models, all at once, and keeps what they say. It returns what
// failed, by service.
func (c *connector) refreshLive(ctx context.Context, known *provider.Catalogue) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	kept := c.live()
	var mu sync.Mutex
	fresh, failed := map[string]liveList{}, map[string]error{}
	var wg sync.WaitGroup
	for _, p := range known.Providers() {
		if !c.asksLive(p) || time.Since(kept.Providers[p.ID].Fetched) < liveFresh {
			continue
		}
		wg.Go(func() { // ends with the answer, or with ctx
			o, err := c.options(p.ID, "")
			var models []provider.Model
			if err == nil {
				models, err = provider.Discover(ctx, o)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[p.ID] = err
				return
			}
			fresh[p.ID] = listOf(models)
		})
	}
	wg.Wait()
	if err := c.keepLive(fresh); err != nil {
		failed["the list of models"] = err
	}
	return failed
}

// asksLive reports whether a service is asked without being told to: there is
// a key for it that no program has to be run for, or the user's models.json
// wants it. Those on this machine are looked for and not remembered.
func (c *connector) asksLive(p provider.Info) bool {
	switch {
	case p.ID == provider.DemoID || p.Local:
		return false
	case p.Discover != nil:
		return *p.Discover
	case c.f.APIKey != "" && p.ID == c.cfg.Provider:
		return true
	}
	for _, name := range p.KeyEnv {
		if os.Getenv(name) != "" {
			return true
		}
	}
	entries, err := c.store.Entries()
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Provider == p.ID && e.Kind != "api_key_command" {
			return true
		}
	}
	return false
}

// keepLive lays new answers over those that are kept.
func (c *connector) keepLive(fresh map[string]liveList) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := c.w.Home.Ensure(); err != nil {
		return err
	}
	return c.w.Home.Update(c.liveFile(), func(old []byte) ([]byte, error) {
		var f liveFile
		_ = json.Unmarshal(old, &f) // a broken one is made anew
		if f.Providers == nil {
			f.Providers = map[string]liveList{}
		}
		maps.Copy(f.Providers, fresh)
		text, err := json.Marshal(f)
		return append(text, '\n'), err
	})
}

func listOf(models []provider.Model) liveList {
	l := liveList{Fetched: time.Now().UTC().Truncate(time.Second), Models: []catalogModel{}}
	for _, m := range models {
		e := catalogModel{ID: m.ID, Name: m.Name, ContextWindow: m.Context, MaxTokens: m.MaxOutput}
		if m.Reasoning {
			e.Reasoning = &m.Reasoning
		}
		if p := m.Price; p != nil {
			e.PriceInput, e.PriceOutput, e.PriceRead, e.PriceWrite = &p.Input, &p.Output, &p.CacheRead, &p.CacheWrite
		}
		l.Models = append(l.Models, e)
	}
	return l
}

// model is the entry that a service's answer makes.
func (m catalogModel) model(of string) provider.Model {
	out := provider.Model{
		Provider: of, ID: m.ID, Name: m.Name, Context: m.ContextWindow, MaxOutput: m.MaxTokens,
		Reasoning: m.Reasoning != nil && *m.Reasoning,
	}
	if m.PriceInput != nil {
		out.Price = &provider.Price{
			Input: *m.PriceInput, Output: value(m.PriceOutput), CacheRead: value(m.PriceRead), CacheWrite: value(m.PriceWrite),
		}
	}
	return out
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// listing is the catalogue with what the services say now: those on this
// machine, those that can be used, and the server of a base URL alone.
func (c *connector) listing(ctx context.Context) (*provider.Catalogue, []string, error) {
	known, err := c.catalogue()
	if err != nil {
		return nil, nil, err
	}
	var complaints []string
	for id, err := range c.refreshLive(ctx, known) {
		complaints = append(complaints, fmt.Sprintf("%s: what it says of its models could not be had, so what is known is listed: %v", id, err))
	}
	slices.Sort(complaints)
	known = known.WithLive(c.live().models(known))
	for _, found := range provider.Probe(ctx, known, os.Getenv) {
		known = known.WithLive(found.Models)
	}
	if c.cfg.BaseURL == "" || c.cfg.Provider != "" {
		return known, complaints, nil
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	o, err := c.options("", "")
	if err != nil {
		return known, complaints, err
	}
	models, err := provider.Discover(ctx, o)
	if err != nil {
		complaints = append(complaints, err.Error())
	}
	return known.WithLive(models), complaints, nil
}
