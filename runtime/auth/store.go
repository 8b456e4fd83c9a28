package auth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

// A Store reads and writes the credentials of one state folder. It is safe for
// concurrent use, and several processes may have one.
type Store struct {
	home   home.Home
	getenv func(string) string

	mu     sync.Mutex
	cached map[string]Secret // outputs of commands, by Command.key
}

// NewStore returns the store of a state folder.
func NewStore(h home.Home) *Store {
	return &Store{home: h, getenv: os.Getenv, cached: map[string]Secret{}}
}

// Lookup finds the credential for q.Provider: the flag, then the environment,
// then auth.json, then q.Command. Where there is none the error is a
// *MissingError. An expired token is returned as it is; see
// [Credential.Expired].
func (s *Store) Lookup(ctx context.Context, q Query) (Credential, error) {
	if !q.Flag.IsZero() {
		return checked(q.Flag.Reveal(), "--api-key")
	}
	env := q.Env
	if env == nil {
		env = []string{EnvName(q.Provider)}
	}
	for _, name := range env {
		if v := strings.TrimSpace(s.getenv(name)); v != "" {
			return checked(v, "environment variable "+name)
		}
	}
	c, found, err := s.stored(ctx, q.Provider)
	if err != nil || found {
		return c, err
	}
	if q.Command != nil {
		return s.fromCommand(ctx, *q.Command)
	}
	return Credential{}, &MissingError{Provider: q.Provider, Env: env}
}

// checked refuses a key that no header could carry.
func checked(key, source string) (Credential, error) {
	key = strings.TrimSpace(key)
	if err := checkKey(key); err != nil {
		return Credential{}, fmt.Errorf("the key from %s %w", source, err)
	}
	return Credential{Kind: APIKey, Secret: NewSecret(key), Source: source}, nil
}

func checkKey(key string) error {
	if key == "" {
		return errors.New("is empty")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxASCII }) {
		return errors.New("holds a line break or another character that no key has")
	}
	return nil
}

// stored reads the provider's entry of auth.json.
func (s *Store) stored(ctx context.Context, provider string) (Credential, bool, error) {
	f, err := load(s.home.AuthFile())
	if err != nil {
		return Credential{}, false, err
	}
	e, _, err := find(f, provider)
	if err != nil || e.empty() {
		return Credential{}, false, err
	}
	var c Credential
	switch {
	case e.APIKey != "":
		c, err = checked(e.APIKey, "auth.json")
	case e.OAuth != nil && e.OAuth.AccessToken != "":
		c = Credential{
			Kind: OAuth, Secret: NewSecret(e.OAuth.AccessToken), Source: "auth.json",
			RefreshToken: NewSecret(e.OAuth.RefreshToken), Expiry: e.OAuth.Expiry,
			AccountID: e.OAuth.AccountID, ClientID: e.OAuth.ClientID,
		}
	default:
		c, err = s.fromCommand(ctx, *e.Command)
	}
	c.BaseURL = e.BaseURL
	return c, true, err
}

// SetKey stores an API key, in the place of whatever the provider had.
func (s *Store) SetKey(provider string, key Secret) error {
	text := strings.TrimSpace(key.Reveal())
	if err := checkKey(text); err != nil {
		return fmt.Errorf("storing the key of %q: it %w", provider, err)
	}
	return s.put(provider, "api_key", text)
}

// SetOAuth stores a token, in the place of whatever the provider had.
func (s *Store) SetOAuth(provider string, c Credential) error {
	if c.Secret.IsZero() {
		return fmt.Errorf("storing the token of %q: it is empty", provider)
	}
	return s.put(provider, "oauth", token{
		AccessToken: c.Secret.Reveal(), RefreshToken: c.RefreshToken.Reveal(),
		Expiry: c.Expiry.UTC().Truncate(time.Second), ClientID: c.ClientID, AccountID: c.AccountID,
	})
}

// credentialFields are the fields of an entry of which it has one.
var credentialFields = []string{"api_key", "oauth", "api_key_command"}

func (s *Store) put(provider, field string, value any) error {
	if provider == "" || provider == additional {
		return fmt.Errorf("storing a credential: %q is no name of a provider", provider)
	}
	return s.update(func(f *document.File) (*document.File, error) {
		place := placeOf(f, provider)
		for _, other := range credentialFields {
			if other == field {
				continue
			}
			var err error
			if f, err = edited(f)(f.Unset(append(slices.Clone(place), other))); err != nil {
				return nil, err
			}
		}
		if n := f.Root.Find(place...); n != nil && n.Kind != document.Object {
			return edited(f)(f.Set(place, map[string]any{field: value}))
		}
		return edited(f)(f.Set(append(slices.Clone(place), field), value))
	})
}

// Remove forgets a provider's credential, wherever auth.json has it; the other
// settings of its entry stay. It reports whether there was one.
func (s *Store) Remove(provider string) (bool, error) {
	removed := false
	err := s.update(func(f *document.File) (*document.File, error) {
		for _, place := range [][]string{{provider}, {additional, provider}} {
			for _, field := range credentialFields {
				path := append(slices.Clone(place), field)
				if f.Root.Find(path...) == nil {
					continue
				}
				removed = true
				var err error
				if f, err = edited(f)(f.Unset(path)); err != nil {
					return nil, err
				}
			}
		}
		return f, nil
	})
	return removed, err
}

// update changes auth.json under its lock. What the file holds besides stays
// byte for byte, and a file that cannot be read is not written.
func (s *Store) update(change func(*document.File) (*document.File, error)) error {
	path := s.home.AuthFile()
	s.Forget()
	return s.home.Update(path, func(old []byte) ([]byte, error) {
		f, err := parse(path, old)
		if err != nil {
			return nil, err
		}
		if f, err = change(f); err != nil {
			return nil, err
		}
		if old == nil && len(f.Root.Members) == 0 {
			return []byte("{}\n"), nil
		}
		// The replaced file keeps the old one's mode; it has to be the user's alone.
		if err := tighten(path); err != nil {
			return nil, err
		}
		return f.Data, nil
	})
}

// edited parses what an edit of f gave; no change gives f.
func edited(f *document.File) func([]byte, error) (*document.File, error) {
	return func(data []byte, err error) (*document.File, error) {
		if errors.Is(err, document.ErrNoChange) {
			return f, nil
		}
		if err != nil {
			return nil, fmt.Errorf("changing %s: %v", f.Name, err) // the document's error may hold a line of the file
		}
		return parse(f.Name, data)
	}
}

// An Entry says what auth.json holds for a provider, without the secret.
type Entry struct {
	Provider string
	Kind     string // api_key, oauth, api_key_command
	Expiry   time.Time
	BaseURL  string
}

// Entries lists what auth.json holds, in the file's order.
func (s *Store) Entries() ([]Entry, error) {
	f, err := load(s.home.AuthFile())
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, group := range []*document.Node{f.Root, f.Root.Get(additional)} {
		if group == nil || group.Kind != document.Object {
			continue
		}
		for _, m := range group.Members {
			if m.Name == additional || m.Value.Kind != document.Object {
				continue
			}
			e, err := decode(f, m.Value, m.Name)
			if err != nil {
				return nil, err
			}
			if kind := e.kind(); kind != "" {
				out = append(out, Entry{Provider: m.Name, Kind: kind, Expiry: e.expiry(), BaseURL: e.BaseURL})
			}
		}
	}
	return out, nil
}

func (e entry) kind() string {
	switch {
	case e.APIKey != "":
		return "api_key"
	case e.OAuth != nil && e.OAuth.AccessToken != "":
		return "oauth"
	case e.Command != nil:
		return "api_key_command"
	}
	return ""
}

func (e entry) expiry() time.Time {
	if e.OAuth == nil {
		return time.Time{}
	}
	return e.OAuth.Expiry
}

// TooOpen reports whether others than the user may read auth.json, for the
// doctor. On Windows the mode says nothing, and it is false.
func (s *Store) TooOpen() bool { return tooOpen(s.home.AuthFile()) }
