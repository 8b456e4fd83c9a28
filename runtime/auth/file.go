package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/document"
)

// additional is the key of auth.json below which the providers without a key
// of their own are.
const additional = "additional_api_key_creds"

// firstClass are the providers that have a key of their own in auth.json.
var firstClass = []string{"anthropic", "openai", "kimi"}

// entry is what auth.json holds for a provider: one of a key, a token and a
// command.
type entry struct {
	APIKey  string   `json:"api_key"`
	OAuth   *token   `json:"oauth"`
	Command *Command `json:"api_key_command"`
	BaseURL string   `json:"base_url"`
}

func (e entry) empty() bool {
	return e.APIKey == "" && (e.OAuth == nil || e.OAuth.AccessToken == "") && e.Command == nil
}

type token struct {
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	TokenType    string    `json:"token_type,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"`
	Scope        string    `json:"scope,omitempty"`
	ClientID     string    `json:"client_id,omitempty"`
	IDToken      string    `json:"id_token,omitempty"`
	AccountID    string    `json:"account_id,omitempty"`
}

// load reads auth.json; no file is an empty one.
func load(path string) (*document.File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return parse(path, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("reading credentials: %w", err)
	}
	return parse(path, data)
}

// parse reads the file's bytes. The document's error is flattened to its text:
// what it carries besides is the line at fault, which may hold a key.
func parse(path string, data []byte) (*document.File, error) {
	f, err := document.Parse(path, data)
	if err != nil {
		return nil, fmt.Errorf("reading credentials: %v; mend the file, or delete it and log in again", err)
	}
	return f, nil
}

// find returns the entry of a provider and its path in the file.
func find(f *document.File, provider string) (entry, []string, error) {
	for _, path := range [][]string{{provider}, {additional, provider}} {
		n := f.Root.Find(path...)
		if n == nil || provider == additional {
			continue
		}
		e, err := decode(f, n, provider)
		if err != nil {
			return entry{}, nil, err
		}
		if !e.empty() || e.BaseURL != "" {
			return e, path, nil
		}
	}
	return entry{}, nil, nil
}

// decode reads one entry. The error names the place and the type that was
// found, and never the value.
func decode(f *document.File, n *document.Node, provider string) (entry, error) {
	var e entry
	if n.Kind == document.Null {
		return e, nil
	}
	err := json.Unmarshal(n.JSON(), &e)
	if err == nil {
		return e, nil
	}
	what := "is not what zot stores there"
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		what = fmt.Sprintf("%q must not be a JSON %s", mistyped.Field, strings.Fields(mistyped.Value)[0])
	}
	return entry{}, fmt.Errorf("reading credentials: %s: entry %q: %s", document.Place(f.Name, n.Pos), provider, what)
}

// placeOf is where the entry of a provider belongs: where it is, or where a
// new one goes.
func placeOf(f *document.File, provider string) []string {
	if slices.Contains(firstClass, provider) {
		return []string{provider}
	}
	if n := f.Root.Get(provider); n != nil && n.Kind == document.Object {
		return []string{provider}
	}
	return []string{additional, provider}
}
