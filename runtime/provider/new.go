package provider

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/anthropic"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/responses"
)

const apiWords = `"openai", "openai-responses" or "anthropic"`

func (a API) known() bool { return a == APIChat || a == APIResponses || a == APIAnthropic }

// A Credential is what a store holds for a service. The zero value is none.
type Credential struct {
	Key     string
	BaseURL string
}

// Options are what the user chose, and where the rest is found. All may be
// zero.
type Options struct {
	Provider string // id or alias
	Model    string // "gpt-5", or "openai/gpt-5" where Provider is empty
	BaseURL  string
	APIKey   string
	API      API // overrides the wire of the service and the model

	// Getenv looks a variable up; nil finds none.
	Getenv func(name string) string
	// Stored looks a credential up by the service's id; nil finds none.
	Stored    func(provider string) (Credential, error)
	Catalogue *Catalogue // nil means Builtin()

	HTTP httpapi.ClientOptions // Insecure is honoured only away from the service's own address
	// Retry is the rule of trying again; its zero value has defaults.
	Retry     httpapi.Retry
	UserAgent string
}

// A Selection is what New decided on, for showing to the user. It holds no key.
type Selection struct {
	Provider Info
	Model    Model
	API      API // the wire that is spoken
	BaseURL  string
	KeyFrom  string // "--api-key", "$OPENAI_API_KEY", "stored", or empty without a key
}

// New resolves the options to a client. Without a provider it takes, in this
// order: the one in the model's name, a base URL alone, the one that has the
// model and a key, and the first that has a key. Errors are *model.Error of
// kind KindNoModel, KindAuth or KindBadRequest and say what to do.
func New(o Options) (model.Client, Selection, error) {
	r, err := newResolver(o)
	if err != nil {
		return nil, Selection{}, err
	}
	sel, key, err := r.resolve()
	if err != nil {
		return nil, sel, err
	}
	if sel.Provider.own(sel.BaseURL) {
		o.HTTP.Insecure = false
	}
	hc, err := httpapi.NewClient(o.HTTP)
	if err != nil {
		return nil, sel, &model.Error{Provider: sel.Provider.ID, Kind: model.KindBadRequest, Message: err.Error(), Err: err}
	}
	return r.client(sel, key, hc), sel, nil
}

// own tells whether an address is the one that a service of the catalogue is
// known to have.
func (i Info) own(base string) bool { return !i.Custom && base == i.BaseURL }

// client builds the client of the selection's wire.
func (r *resolver) client(sel Selection, key string, hc *http.Client) model.Client {
	id, remedy := sel.Provider.ID, authRemedy(sel.Provider)
	cost := func(name string, u message.Usage) float64 {
		usd, _ := r.catalogue.Cost(id, name, u)
		return usd
	}
	switch sel.API {
	case APIAnthropic:
		return anthropic.New(anthropic.Options{
			Provider: id, BaseURL: sel.BaseURL, APIKey: key, AuthRemedy: remedy, UserAgent: r.UserAgent,
			HTTP: hc, Retry: r.Retry, Levels: sel.Model.Levels, Cost: cost,
			MaxTokens: func(name string) int {
				m, _ := r.catalogue.Find(id, name)
				return m.MaxOutput
			},
		})
	case APIResponses:
		return responses.New(responses.Options{
			Provider: id, BaseURL: sel.BaseURL, APIKey: key, AuthRemedy: remedy, UserAgent: r.UserAgent,
			HTTP: hc, Retry: r.Retry, Levels: sel.Model.Levels, Cost: cost,
		})
	}
	d := sel.Provider.dialect
	d.DeferredInPlace = DeferredInPlace(id, sel.Model.ID)
	if sel.Model.Levels != nil {
		d.Levels = sel.Model.Levels
	}
	return openai.New(openai.Options{
		Provider: id, BaseURL: sel.BaseURL, APIKey: key, AuthRemedy: remedy, UserAgent: r.UserAgent,
		HTTP: hc, Retry: r.Retry, Dialect: d, Cost: cost,
	})
}

// authRemedy says how to give a key to a service.
func authRemedy(i Info) string {
	if i.ID == customID {
		return "give the key with --api-key or set ZOT_API_KEY"
	}
	s := fmt.Sprintf("run zot login %s", i.ID)
	if len(i.KeyEnv) > 0 {
		s += ", set " + i.KeyEnv[0] + ","
	}
	return s + " or give --api-key"
}

type resolver struct {
	Options
	catalogue *Catalogue
}

func newResolver(o Options) (*resolver, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Stored == nil {
		o.Stored = func(string) (Credential, error) { return Credential{}, nil }
	}
	if o.Catalogue == nil {
		o.Catalogue = Builtin()
	}
	o.Provider, o.Model = strings.TrimSpace(o.Provider), strings.TrimSpace(o.Model)
	if o.API != "" && !o.API.known() {
		return nil, refuse("", "there is no API %q", "choose "+apiWords, o.API)
	}
	return &resolver{o, o.Catalogue}, nil
}

func refuse(provider, format, remedy string, args ...any) *model.Error {
	return &model.Error{Provider: provider, Kind: model.KindBadRequest, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Choose tells which service New would take.
func Choose(o Options) (Info, error) {
	r, err := newResolver(o)
	if err != nil {
		return Info{}, err
	}
	return r.provider()
}

func (r *resolver) resolve() (Selection, string, error) {
	info, err := r.provider()
	if err != nil {
		return Selection{}, "", err
	}
	sel := Selection{Provider: info}
	key, from, stored, err := r.key(info)
	if err != nil {
		return sel, "", err
	}
	sel.KeyFrom = from
	if sel.Model, err = r.model(info); err != nil {
		return sel, "", err
	}
	sel.API = orElse(r.API, orElse(sel.Model.API, info.API))
	if sel.BaseURL, err = r.baseURL(info, sel.Model, stored); err != nil {
		return sel, "", err
	}
	sel.BaseURL = versioned(sel.API, sel.BaseURL)
	if key == "" && info.NeedsKey {
		return sel, "", r.noKey(info, sel.Model.ID)
	}
	return sel, key, nil
}

// provider decides on the service.
func (r *resolver) provider() (Info, error) {
	if r.Provider != "" {
		if info, ok := r.catalogue.Provider(r.Provider); ok {
			return info, nil
		}
		if r.Provider == customID && r.BaseURL != "" {
			return r.custom(), nil
		}
		return Info{}, refuse("", "there is no provider %q", "choose one of "+r.names()+", or describe it in models.json", r.Provider)
	}
	if r.BaseURL != "" {
		return r.custom(), nil
	}
	if first, rest, ok := strings.Cut(r.Model, "/"); ok {
		if info, ok := r.catalogue.Provider(first); ok && rest != "" {
			r.Model = rest
			return info, nil
		}
	}
	if info, ok := r.keyed(func(i Info) bool { return r.Model == "" || r.has(i, r.Model) }); ok {
		return info, nil
	}
	if info, ok := r.keyed(func(Info) bool { return true }); ok {
		return info, nil
	}
	return Info{}, r.nothing()
}

// nothing says what is missing where no service has a key: the key, where the
// model is known, else a model.
func (r *resolver) nothing() error {
	if r.Model != "" {
		for _, i := range r.catalogue.infos {
			if i.NeedsKey && r.has(i, r.Model) {
				return r.noKey(i, r.Model)
			}
		}
	}
	return &model.Error{
		Kind: model.KindNoModel, Message: "no model is configured, and no provider has a key",
		Remedy: "set OPENAI_API_KEY, ANTHROPIC_API_KEY or the variable of another provider, or run zot login PROVIDER; " +
			"a server on this machine needs none: zot --provider ollama --model NAME; zot demo shows all of it without a model",
	}
}

func (r *resolver) noKey(i Info, id string) error {
	return &model.Error{Provider: i.ID, Model: id, Kind: model.KindAuth, Message: "there is no API key for " + i.Name, Remedy: authRemedy(i)}
}

// custom is a server that only its address tells of. Keys of known services
// are never sent there.
func (r *resolver) custom() Info {
	return Info{ID: customID, Name: customID, API: orElse(r.API, APIChat), KeyEnv: []string{"ZOT_API_KEY"}, Custom: true}
}

// keyed returns the first service that has a key, of those that match.
func (r *resolver) keyed(match func(Info) bool) (Info, bool) {
	for _, i := range r.catalogue.infos {
		if !i.NeedsKey || !match(i) {
			continue
		}
		if key, _, _, err := r.key(i); err == nil && key != "" {
			return i, true
		}
	}
	return Info{}, false
}

func (r *resolver) has(i Info, id string) bool {
	_, ok := r.catalogue.Find(i.ID, id)
	return ok
}

func (r *resolver) names() string {
	var ids []string
	for _, i := range r.catalogue.infos {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}

// key finds the key: the flag, the environment, the store.
func (r *resolver) key(i Info) (key, from string, stored Credential, err error) {
	stored, err = r.Stored(i.ID)
	if err != nil && r.APIKey == "" {
		return "", "", stored, &model.Error{Provider: i.ID, Kind: model.KindAuth, Message: "the stored credential cannot be used: " + err.Error(), Remedy: authRemedy(i), Err: err}
	}
	if r.APIKey != "" {
		return strings.TrimSpace(r.APIKey), "--api-key", stored, nil
	}
	for _, name := range i.KeyEnv {
		if v := strings.TrimSpace(r.Getenv(name)); v != "" {
			return v, "$" + name, stored, nil
		}
	}
	if stored.Key != "" {
		return stored.Key, "stored", stored, nil
	}
	return "", "", stored, nil
}

// model finds the entry of the model, or makes one of its name.
func (r *resolver) model(i Info) (Model, error) {
	id := orElse(r.Model, i.DefaultModel)
	// "openai/gpt-5" with the provider openai means gpt-5, unless the service
	// has a model of the longer name.
	if first, rest, ok := strings.Cut(id, "/"); ok && !r.has(i, id) && r.has(i, rest) {
		if other, ok := r.catalogue.Provider(first); ok && other.ID == i.ID {
			id = rest
		}
	}
	if id == "" {
		return Model{}, &model.Error{
			Provider: i.ID, Kind: model.KindNoModel, Message: "no model is named, and " + i.Name + " has no default",
			Remedy: fmt.Sprintf("name one with --model; zot --list-models --provider %s shows them", i.ID),
		}
	}
	if m, ok := r.catalogue.Find(i.ID, id); ok {
		return m, nil
	}
	m := Model{Provider: i.ID, ID: id, Name: id}
	if i.Local {
		m.Price = &Price{}
	}
	return m, nil
}

// baseURL finds the address: the flag, the model's own, the environment, the
// store, the service's.
func (r *resolver) baseURL(i Info, m Model, stored Credential) (string, error) {
	env := ""
	if i.BaseURLEnv != "" {
		env = r.Getenv(i.BaseURLEnv)
		if i.ID == "ollama" && env != "" {
			env = ollamaURL(env)
		}
	}
	for _, c := range []struct{ from, url string }{
		{"--base-url", r.BaseURL}, {"the model's baseUrl", m.BaseURL}, {"$" + i.BaseURLEnv, env},
		{"the stored base URL", stored.BaseURL}, {"the provider's baseUrl", i.BaseURL},
	} {
		if c.url == "" {
			continue
		}
		if err := checkURL(c.url); err != nil {
			return "", refuse(i.ID, "%s: %v", "give an address like http://127.0.0.1:8080/v1", c.from, err)
		}
		return strings.TrimRight(c.url, "/"), nil
	}
	remedy := "give it with --base-url"
	if i.ID == DemoID {
		remedy = "run zot demo, which starts it"
	}
	return "", &model.Error{Provider: i.ID, Kind: model.KindNoModel, Message: "the address of the server is not known", Remedy: remedy}
}

// versioned adds the version that addresses of Anthropic's API are usually
// given without.
func versioned(api API, base string) string {
	if u, err := url.Parse(base); err == nil && api == APIAnthropic && u.Path == "" {
		return base + "/v1"
	}
	return base
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a URL", s)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("%q is not an http or https URL", s)
	case u.User != nil:
		return fmt.Errorf("the URL of %q holds a user name; give keys with --api-key", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q has more than a path", u.Host+u.Path)
	}
	return nil
}

// ollamaURL reads OLLAMA_HOST as Ollama does: a host, a port or a URL, the
// address to listen at (0.0.0.0) meaning this machine.
func ollamaURL(s string) string {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "11434"
	}
	u.Host = net.JoinHostPort(host, port)
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/v1"
	return u.String()
}

// loopback reports whether a URL is of this machine.
func loopback(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}
