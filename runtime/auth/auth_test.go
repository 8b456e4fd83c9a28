package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config/home"
)

// TestMain lets the test binary play the commands that print keys.
func TestMain(m *testing.M) {
	switch os.Getenv("AUTH_TEST_COMMAND") {
	case "":
		os.Exit(m.Run())
	case "key":
		if f, err := os.OpenFile(os.Getenv("AUTH_TEST_COUNT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprint(f, "x")
			f.Close()
		}
		fmt.Print("\n  sk-from-command \r\n\n")
	case "two":
		fmt.Print("sk-first\nsk-second\n")
	case "flood":
		for {
			if _, err := fmt.Println(strings.Repeat("sk-flood", 1000)); err != nil {
				return
			}
		}
	case "hang":
		time.Sleep(time.Hour)
	case "fail":
		fmt.Print("sk-partial")
		fmt.Fprint(os.Stderr, "first line\nthe vault is locked\x1b[2J\n")
		os.Exit(3)
	}
}

func newStore(t *testing.T, env ...string) *Store {
	t.Helper()
	s := NewStore(home.Home(t.TempDir()))
	s.getenv = func(name string) string {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return ""
	}
	return s
}

func (s *Store) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.home.AuthFile(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(s.home.AuthFile())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOrderOfLookup(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, "OPENAI_API_KEY", " sk-env\n")
	s.write(t, `{"openai":{"api_key":"sk-file"},"kimi":{"api_key":"sk-kimi"},
		"additional_api_key_creds":{"groq":{"api_key":"sk-groq","base_url":"https://groq.example"}}}`)
	for _, c := range []struct {
		q                 Query
		want, source, url string
	}{
		{Query{Provider: "openai", Flag: NewSecret("sk-flag")}, "sk-flag", "--api-key", ""},
		{Query{Provider: "openai"}, "sk-env", "environment variable OPENAI_API_KEY", ""},
		{Query{Provider: "openai", Env: []string{"OTHER"}}, "sk-file", "auth.json", ""},
		{Query{Provider: "kimi"}, "sk-kimi", "auth.json", ""},
		{Query{Provider: "groq"}, "sk-groq", "auth.json", "https://groq.example"},
	} {
		got, err := s.Lookup(ctx, c.q)
		if err != nil || got.Secret.Reveal() != c.want || got.Source != c.source || got.BaseURL != c.url {
			t.Errorf("%s: got %q from %q at %q, %v; want %q from %q", c.q.Provider, got.Secret.Reveal(), got.Source, got.BaseURL, err, c.want, c.source)
		}
	}
	_, err := s.Lookup(ctx, Query{Provider: "lm-studio"})
	var missing *MissingError
	if !errors.As(err, &missing) || err.Error() != `no credential for "lm-studio": set LM_STUDIO_API_KEY, or run: zot login lm-studio` {
		t.Errorf("got %v", err)
	}
}

func TestOAuth(t *testing.T) {
	s := newStore(t)
	s.write(t, `{"anthropic":{"oauth":{"access_token":"at","refresh_token":"rt","expiry":"2026-05-01T10:00:00Z","account_id":"a","id_token":"it"}}}`)
	c, err := s.Lookup(context.Background(), Query{Provider: "anthropic"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Kind != OAuth || c.Secret.Reveal() != "at" || c.RefreshToken.Reveal() != "rt" || c.AccountID != "a" {
		t.Errorf("got %+v", c)
	}
	end := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	if c.Expired(end.Add(-61*time.Second)) || !c.Expired(end.Add(-59*time.Second)) {
		t.Error("a token must count as expired one minute before its end, and not earlier")
	}
}

func TestStoringKeepsTheRest(t *testing.T) {
	s := newStore(t)
	before := "{\n  // mine\n  \"future\": {\"n\": 12345678901234567890},\n  \"openai\": {\"oauth\": {\"access_token\": \"old\"}, \"note\": \"keep\"},\n}\n"
	s.write(t, before)
	if err := os.Chmod(s.home.AuthFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && !s.TooOpen() {
		t.Error("0644 is not called too open")
	}
	for provider, key := range map[string]string{"openai": "sk-new", "groq": "sk-groq", "kimi": "sk-kimi"} {
		if err := s.SetKey(provider, NewSecret(key)); err != nil {
			t.Fatal(err)
		}
	}
	got := s.text(t)
	for _, want := range []string{"// mine", "12345678901234567890", `"note": "keep"`, "sk-new", "sk-groq"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is gone from\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Errorf("the token that the key replaces is still in\n%s", got)
	}
	if s.TooOpen() {
		t.Error("the file is still open to others")
	}
	entries, err := s.Entries()
	if err != nil || len(entries) != 3 {
		t.Errorf("entries: %+v, %v", entries, err)
	}
	if c, err := s.Lookup(context.Background(), Query{Provider: "groq"}); err != nil || c.Secret.Reveal() != "sk-groq" {
		t.Errorf("groq: %v", err)
	}
	if removed, err := s.Remove("openai"); !removed || err != nil {
		t.Errorf("removing: %v, %v", removed, err)
	}
	if removed, err := s.Remove("openai"); removed || err != nil {
		t.Errorf("removing twice: %v, %v", removed, err)
	}
	if got := s.text(t); !strings.Contains(got, "keep") || strings.Contains(got, "sk-new") {
		t.Errorf("after removing:\n%s", got)
	}
}

func TestANewFileIsTheUsersAlone(t *testing.T) {
	s := newStore(t)
	if removed, err := s.Remove("openai"); removed || err != nil {
		t.Fatalf("removing from nothing: %v, %v", removed, err)
	}
	if err := s.SetOAuth("anthropic", Credential{Secret: NewSecret("at"), RefreshToken: NewSecret("rt")}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.home.AuthFile())
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	var file struct {
		Anthropic struct {
			OAuth map[string]any `json:"oauth"`
		} `json:"anthropic"`
	}
	if err := json.Unmarshal([]byte(s.text(t)), &file); err != nil || file.Anthropic.OAuth["refresh_token"] != "rt" {
		t.Errorf("file:\n%s", s.text(t))
	}
}

func TestABrokenFileIsNeverWrittenOver(t *testing.T) {
	s := newStore(t)
	const broken = "{\n  \"openai\": {\"api_key\": \"sk-precious-secret\"\n"
	s.write(t, broken)
	_, lookupErr := s.Lookup(context.Background(), Query{Provider: "openai"})
	for _, err := range []error{lookupErr, s.SetKey("openai", NewSecret("sk-x"))} {
		if err == nil || !strings.Contains(err.Error(), "auth.json:") || !strings.Contains(err.Error(), "log in again") {
			t.Errorf("error %v names no place or remedy", err)
		}
		if strings.Contains(fmt.Sprintf("%+v %#v", err, err), "precious") {
			t.Errorf("the error shows the key: %+v", err)
		}
	}
	if got := s.text(t); got != broken {
		t.Errorf("the file was changed to %q", got)
	}
	s.write(t, `{"openai":{"api_key":["sk-precious-secret"]}}`)
	_, err := s.Lookup(context.Background(), Query{Provider: "openai"})
	if err == nil || strings.Contains(err.Error(), "precious") || !strings.Contains(err.Error(), "api_key") {
		t.Errorf("error: %v", err)
	}
}

func TestTwentySaveAtOnce(t *testing.T) {
	dir := home.Home(t.TempDir())
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := NewStore(dir).SetKey(fmt.Sprintf("provider-%d", i), NewSecret("sk-x")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	entries, err := NewStore(dir).Entries()
	if err != nil || len(entries) != 20 {
		t.Errorf("%d of 20 keys were kept, %v", len(entries), err)
	}
}

func TestCommands(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv("AUTH_TEST_COUNT", count)
	s := newStore(t)
	ask := func(mode string, timeout int) (Credential, error) {
		t.Setenv("AUTH_TEST_COMMAND", mode)
		return s.Lookup(context.Background(), Query{Provider: "x", Command: &Command{Program: self, Args: []string{mode}, TimeoutMS: timeout}})
	}
	for range 3 {
		if c, err := ask("key", 0); err != nil || c.Secret.Reveal() != "sk-from-command" {
			t.Fatalf("got %q, %v", c.Secret.Reveal(), err)
		}
	}
	s.Forget()
	if _, err := ask("key", 0); err != nil {
		t.Fatal(err)
	}
	if runs, err := os.ReadFile(count); err != nil || len(runs) != 2 {
		t.Errorf("the command ran %d times, want once, and once more after Forget (%v)", len(runs), err)
	}
	for mode, want := range map[string]string{
		"two": "more than one line", "flood": "more than 65536 bytes", "hang": "within 150ms", "fail": "the vault is locked[2J",
	} {
		timeout := 20_000
		if mode == "hang" {
			timeout = 150
		}
		_, err := ask(mode, timeout)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: got error %v, want one with %q and no key", mode, err, want)
		}
	}
	for program, want := range map[string]string{"": "missing", "./planted": "relative", "zot-no-such-program": "PATH"} {
		_, err := s.fromCommand(context.Background(), Command{Program: program})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", program, err, want)
		}
	}
	s.write(t, fmt.Sprintf(`{"additional_api_key_creds":{"y":{"api_key_command":{"program":%q}}}}`, self))
	t.Setenv("AUTH_TEST_COMMAND", "key")
	if c, err := s.Lookup(context.Background(), Query{Provider: "y"}); err != nil || c.Secret.Reveal() != "sk-from-command" {
		t.Errorf("from auth.json: %q, %v", c.Secret.Reveal(), err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	const text = "sk-precious-secret"
	c := Credential{Kind: APIKey, Secret: NewSecret(text), Source: "x"}
	hidden := struct{ inner Credential }{c}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "cred", c, "secret", c.Secret, "hidden", hidden)
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c.Secret, c.Secret, c.Secret, c.Secret) +
		fmt.Sprintf("%v %+v %#v", hidden, hidden, &hidden) + log.String() + string(asJSON)
	if strings.Contains(out, "precious") || strings.Contains(out, fmt.Sprintf("%x", text)) {
		t.Errorf("the secret is in %s", out)
	}
	if got := Redact("refused: "+text+".", c.Secret, Secret{}); got != "refused: [secret]." {
		t.Errorf("redacted: %q", got)
	}
	if _, err := newStore(t, "X_API_KEY", "sk-pre\ncious").Lookup(context.Background(), Query{Provider: "x"}); err == nil || strings.Contains(err.Error(), "cious") {
		t.Errorf("a key with a line break: %v", err)
	}
}
