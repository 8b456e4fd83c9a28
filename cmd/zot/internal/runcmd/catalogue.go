package runcmd

import (
	"encoding/json"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/provider"
)

// catalogue is the built-in catalogue of providers and models with the user's
// models.json over it, the settings over that, and what services said of their
// models where nothing else is known. With an error it is what could be read,
// usable still.
func (c *connector) catalogue() (*provider.Catalogue, error) {
	known, err := c.stated()
	return known.WithLive(c.live().models(known)), err
}

// stated is the catalogue without what services said.
func (c *connector) stated() (*provider.Catalogue, error) {
	known, err := provider.LoadCatalogue(c.w.Home.ModelsFile())
	over := map[string]entry{}
	for id, p := range c.cfg.Providers {
		if _, builtin := known.Provider(id); builtin || p.BaseURL == "" {
			continue // its settings go into the connection
		}
		over[id] = entryOf(p)
	}
	for id, m := range c.cfg.Models {
		name := m.Provider
		if name == "" {
			name = c.cfg.Provider
		}
		if name == "" {
			continue // of nobody known
		}
		e := over[name]
		e.Models = append(e.Models, modelOf(id, m))
		over[name] = e
	}
	if len(over) == 0 {
		return known, err
	}
	text, jsonErr := json.Marshal(map[string]any{"providers": over})
	if jsonErr != nil {
		return known, jsonErr
	}
	all, overErr := known.Overlay("settings", text)
	if overErr != nil {
		return known, overErr
	}
	return all, err
}

// An entry is a provider in the words of models.json.
type entry struct {
	BaseURL string         `json:"baseUrl,omitempty"`
	API     string         `json:"api,omitempty"`
	Auth    string         `json:"auth,omitempty"`
	KeyEnv  string         `json:"apiKeyEnv,omitempty"`
	Models  []catalogModel `json:"models,omitempty"`
}

type catalogModel struct {
	ID            string   `json:"id"`
	Name          string   `json:"name,omitempty"`
	Reasoning     *bool    `json:"reasoning,omitempty"`
	ContextWindow int      `json:"contextWindow,omitempty"`
	MaxTokens     int      `json:"maxTokens,omitempty"`
	PriceInput    *float64 `json:"priceInput,omitempty"`
	PriceOutput   *float64 `json:"priceOutput,omitempty"`
	PriceRead     *float64 `json:"priceCacheRead,omitempty"`
	PriceWrite    *float64 `json:"priceCacheWrite,omitempty"`
}

// entryOf describes a provider that only the settings know. Where they say
// nothing of a key, none is needed; one that is stored is sent all the same.
func entryOf(p *config.Provider) entry {
	e := entry{BaseURL: p.BaseURL, API: p.Type, KeyEnv: p.APIKeyEnv}
	if p.APIKeyEnv == "" && len(p.CredentialCommand) == 0 {
		e.Auth = "none"
	}
	if p.Model != "" {
		e.Models = []catalogModel{{ID: p.Model}}
	}
	return e
}

func modelOf(id string, m *config.Model) catalogModel {
	return catalogModel{
		ID: id, Name: m.Name, Reasoning: m.Reasoning, ContextWindow: m.ContextWindow, MaxTokens: m.MaxOutput,
		PriceInput: m.Cost.Input, PriceOutput: m.Cost.Output, PriceRead: m.Cost.CacheRead, PriceWrite: m.Cost.CacheWrite,
	}
}
