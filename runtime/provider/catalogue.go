package provider

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/runtime/message"
)

// A Model is an entry of the catalogue. Numbers that nobody stated are 0.
type Model struct {
	Provider  string
	ID        string
	Name      string
	Context   int // tokens of the whole window
	MaxOutput int // tokens of one answer
	Reasoning bool
	// Price is nil where it is not known; local models have one of zeros.
	Price *Price
	// API and BaseURL override the service's for this model.
	API     API
	BaseURL string
	// Levels translates reasoning levels to the service's words.
	Levels map[string]string
	// Source says who told of the model: "catalogue", the name of a file that
	// was laid over it, or "live" for the service itself.
	Source string
}

// A Price is in US dollars for a million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Cost is what a usage costs.
func (p Price) Cost(u message.Usage) float64 {
	read, write := p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CacheRead)*read + float64(u.CacheWrite)*write) / 1e6
}

//go:embed models.json
var builtinModels []byte

// A Catalogue lists services and models. It is not changed once it is made;
// the methods that add to it return another.
type Catalogue struct {
	infos  []Info
	models []Model
}

// Builtin is the catalogue that comes with the program.
func Builtin() *Catalogue { return builtinCatalogue() }

// builtinCatalogue is read once: whoever asks a session what it would ask reads the
// catalogue anew each time, for what the user's files say by then.
var builtinCatalogue = sync.OnceValue(func() *Catalogue {
	c, err := (&Catalogue{infos: All()}).Overlay(builtinSource, builtinModels)
	if err != nil {
		panic(err) // a test reads the embedded file
	}
	return c
})

// LoadCatalogue is the built-in catalogue with the user's models.json over it.
// A file that is missing is no error; with any other error the catalogue is
// the built-in one, usable still.
func LoadCatalogue(file string) (*Catalogue, error) {
	c := Builtin()
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading models: %w", err)
	}
	over, err := c.Overlay(file, data)
	if err != nil {
		return c, err
	}
	return over, nil
}

// builtinSource is the [Model.Source] of what comes with the program.
const builtinSource = "catalogue"

// modelsFile is the published shape of models.json. Additional holds providers
// as well, for those who part their own from the known ones.
type modelsFile struct {
	Providers  map[string]providerEntry `json:"providers"`
	Additional map[string]providerEntry `json:"additional_providers"`
}

type providerEntry struct {
	Name     string       `json:"name"`
	BaseURL  string       `json:"baseUrl"`
	API      API          `json:"api"`
	Auth     string       `json:"auth"`
	Discover *bool        `json:"discover"`
	KeyEnv   string       `json:"apiKeyEnv"`
	Models   []modelEntry `json:"models"`
}

type modelEntry struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	Reasoning       *bool             `json:"reasoning"`
	ContextWindow   *int              `json:"contextWindow"`
	MaxTokens       *int              `json:"maxTokens"`
	PriceInput      *float64          `json:"priceInput"`
	PriceOutput     *float64          `json:"priceOutput"`
	PriceCacheRead  *float64          `json:"priceCacheRead"`
	PriceCacheWrite *float64          `json:"priceCacheWrite"`
	API             API               `json:"api"`
	BaseURL         string            `json:"baseUrl"`
	Levels          map[string]string `json:"reasoningLevelMap"`
}

// Overlay returns c with the contents of a models.json over it: what the file
// states of a model or service replaces what is known, and what it does not
// state stays. file names it in errors.
func (c *Catalogue) Overlay(file string, data []byte) (*Catalogue, error) {
	var f modelsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s%s: %w", file, position(data, err), err)
	}
	out := c.clone()
	for _, group := range []struct {
		name    string
		entries map[string]providerEntry
	}{{"providers", f.Providers}, {"additional_providers", f.Additional}} {
		for _, id := range slices.Sorted(maps.Keys(group.entries)) {
			if err := out.addProvider(id, group.entries[id], filepath.Base(file)); err != nil {
				return nil, fmt.Errorf("%s: %s.%s: %w", file, group.name, id, err)
			}
		}
	}
	return out, nil
}

// position writes ":line:column" of a decoding error.
func position(data []byte, err error) string {
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syn):
		at = syn.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return ""
	}
	before := data[:max(0, at-1)]
	return fmt.Sprintf(":%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

func (c *Catalogue) clone() *Catalogue {
	return &Catalogue{infos: slices.Clone(c.infos), models: slices.Clone(c.models)}
}

func (c *Catalogue) addProvider(id string, e providerEntry, source string) error {
	info, known := lookup(c.infos, id)
	if !known {
		if e.BaseURL == "" {
			return fmt.Errorf("there is no built-in provider of this name, and a new one needs its base URL")
		}
		info = Info{ID: strings.ToLower(id), Name: id, API: APIChat, NeedsKey: true, Custom: true, KeyEnv: []string{envName(id)}}
	}
	if e.Name != "" {
		info.Name = e.Name
	}
	if e.BaseURL != "" {
		if err := checkURL(e.BaseURL); err != nil {
			return fmt.Errorf("baseUrl: %w", err)
		}
		info.BaseURL = e.BaseURL
	}
	if e.API != "" {
		if !e.API.known() {
			return fmt.Errorf("api is %q; it can be %s", e.API, apiWords)
		}
		info.API = e.API
	}
	switch e.Auth {
	case "":
	case "none":
		info.NeedsKey = false
	default:
		return fmt.Errorf("auth is %q; it can be \"none\" or left out", e.Auth)
	}
	if e.Discover != nil {
		info.Discover = e.Discover
	}
	if e.KeyEnv != "" {
		info.KeyEnv = []string{e.KeyEnv}
	}
	if info.DefaultModel == "" && info.Custom && len(e.Models) > 0 {
		info.DefaultModel = e.Models[0].ID
	}
	c.setInfo(info)
	for i, m := range e.Models {
		if m.ID == "" {
			return fmt.Errorf("models[%d] has no id", i)
		}
		if m.API != "" && !m.API.known() {
			return fmt.Errorf("models[%d]: api is %q; it can be %s", i, m.API, apiWords)
		}
		c.setModel(info.ID, m, source)
	}
	return nil
}

// envName is the variable for the key of a service that the user named:
// MY_SERVICE_API_KEY.
func envName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(id)) + "_API_KEY"
}

func (c *Catalogue) setInfo(info Info) {
	for i := range c.infos {
		if c.infos[i].ID == info.ID {
			c.infos[i] = info
			return
		}
	}
	c.infos = append(c.infos, info)
}

func (c *Catalogue) setModel(provider string, e modelEntry, source string) {
	i := slices.IndexFunc(c.models, func(m Model) bool { return m.Provider == provider && m.ID == e.ID })
	if i < 0 {
		i = len(c.models)
		c.models = append(c.models, Model{Provider: provider, ID: e.ID, Name: e.ID})
	}
	m := &c.models[i]
	m.Source = source
	if e.Name != "" {
		m.Name = e.Name
	}
	if e.BaseURL != "" {
		m.BaseURL = e.BaseURL
	}
	if e.API != "" {
		m.API = e.API
	}
	if e.Levels != nil {
		m.Levels = e.Levels
	}
	set(&m.Reasoning, e.Reasoning)
	set(&m.Context, e.ContextWindow)
	set(&m.MaxOutput, e.MaxTokens)
	if e.PriceInput != nil || e.PriceOutput != nil || e.PriceCacheRead != nil || e.PriceCacheWrite != nil {
		var p Price
		if m.Price != nil {
			p = *m.Price
		}
		set(&p.Input, e.PriceInput)
		set(&p.Output, e.PriceOutput)
		set(&p.CacheRead, e.PriceCacheRead)
		set(&p.CacheWrite, e.PriceCacheWrite)
		m.Price = &p
	}
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

// WithLive returns c with the models that a service reports: new ones are
// added, and of known ones only what was not known is filled in.
func (c *Catalogue) WithLive(live []Model) *Catalogue {
	out := c.clone()
	for _, l := range live {
		i := slices.IndexFunc(out.models, func(m Model) bool { return m.Provider == l.Provider && m.ID == l.ID })
		if i < 0 {
			l.Source = "live"
			out.models = append(out.models, l)
			continue
		}
		m := &out.models[i]
		m.Context = orElse(m.Context, l.Context)
		m.MaxOutput = orElse(m.MaxOutput, l.MaxOutput)
		m.Price = orElse(m.Price, l.Price)
	}
	return out
}

func orElse[T comparable](a, b T) T {
	var zero T
	if a == zero {
		return b
	}
	return a
}

// Providers lists the services, the built-in ones first.
func (c *Catalogue) Providers() []Info { return slices.Clone(c.infos) }

// Provider finds a service by its id or an alias.
func (c *Catalogue) Provider(name string) (Info, bool) { return lookup(c.infos, name) }

// Models lists the models of a service, or of all where provider is empty.
func (c *Catalogue) Models(provider string) []Model {
	var out []Model
	for _, m := range c.models {
		if provider == "" || m.Provider == provider {
			out = append(out, m)
		}
	}
	return out
}

// Find returns the entry of a model. A dated name ("gpt-5-2025-08-07") is also
// found under the name without the date: window and price are the same.
func (c *Catalogue) Find(provider, id string) (Model, bool) {
	var best Model
	for _, m := range c.models {
		if m.Provider != provider {
			continue
		}
		if m.ID == id {
			return m, true
		}
		if rest, ok := strings.CutPrefix(id, m.ID); ok && isDate(rest) && len(m.ID) > len(best.ID) {
			best = m
		}
	}
	if best.ID == "" {
		return Model{}, false
	}
	best.ID = id
	return best, true
}

// isDate reports whether s is "-" and a date, "20250807" or "2025-08-07".
func isDate(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	return strings.HasPrefix(s, "-") && len(digits) == 8 && strings.Trim(digits, "0123456789") == ""
}

// Cost prices a usage of a model; known is false where the price is not.
func (c *Catalogue) Cost(provider, id string, u message.Usage) (usd float64, known bool) {
	m, ok := c.Find(provider, id)
	if !ok || m.Price == nil {
		return 0, false
	}
	return m.Price.Cost(u), true
}
