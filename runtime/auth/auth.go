// Package auth finds the credential for a model provider and keeps those that
// the user stored. A credential comes, in this order, from the command line,
// from the environment, from auth.json in zot's state folder, or from a
// command that the user's or the administrator's settings name.
//
//	store := auth.NewStore(home)
//	cred, err := store.Lookup(ctx, auth.Query{Provider: "openai", Env: []string{"OPENAI_API_KEY"}})
//	request.Header.Set("Authorization", "Bearer "+cred.Secret.Reveal())
//
// What a credential says is held in a [Secret], which every way of printing
// shows as a placeholder. No error of this package holds one.
package auth

import (
	"fmt"
	"strings"
	"time"
)

// A Kind says what a credential is.
type Kind string

// The kinds of credential.
const (
	APIKey Kind = "api_key"
	OAuth  Kind = "oauth"
)

// A Credential is what a provider wants to see.
type Credential struct {
	Kind   Kind
	Secret Secret // the key, or the access token
	// Source says where it came from: "--api-key", "environment variable X",
	// "auth.json", "command X".
	Source string
	// BaseURL is the address that auth.json gives for the provider, or empty.
	BaseURL string
	// AccountID, RefreshToken, ClientID and Expiry belong to OAuth.
	AccountID    string
	RefreshToken Secret
	ClientID     string
	Expiry       time.Time
}

// expiryMargin is how long before its end a token counts as expired: a request
// that begins with it has to arrive.
const expiryMargin = time.Minute

// Expired reports whether an OAuth token has run out at now, or is about to.
func (c Credential) Expired(now time.Time) bool {
	return c.Kind == OAuth && !c.Expiry.IsZero() && !now.Add(expiryMargin).Before(c.Expiry)
}

// A Query says whose credential is wanted and where it may come from.
type Query struct {
	Provider string
	// Flag is the value of --api-key, or the zero Secret.
	Flag Secret
	// Env names the variables to look at, the first that is not empty wins.
	// Nil looks at the provider's name in capitals with _API_KEY after it.
	Env []string
	// Command is what the settings name for the provider, or nil. It must come
	// from the user's or the administrator's layer, never from a project.
	Command *Command
}

// EnvName is the variable that holds a provider's key by default:
// "lm-studio" gives LM_STUDIO_API_KEY.
func EnvName(provider string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, provider) + "_API_KEY"
}

// A MissingError says that there is no credential for a provider.
type MissingError struct {
	Provider string
	Env      []string // the variables that were looked at
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no credential for %q: set %s, or run: zot login %s", e.Provider, strings.Join(e.Env, " or "), e.Provider)
}
