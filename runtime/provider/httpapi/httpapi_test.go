package httpapi_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

func TestTrust(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    httpapi.ClientOptions
		ok   bool
	}{
		{"unknown authority", httpapi.ClientOptions{}, false},
		{"its file", httpapi.ClientOptions{CAFile: ca}, true},
		{"insecure", httpapi.ClientOptions{Insecure: true}, true},
	} {
		c, err := httpapi.NewClient(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Get(srv.URL)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			resp.Body.Close()
			continue
		}
		f := (httpapi.Origin{Provider: "p", BaseURL: srv.URL}).Unreachable(err)
		if f.Passing || !strings.Contains(f.Cause().Error(), "caFile") {
			t.Errorf("%s: %v; want a remedy and no retry", tt.name, f.Cause())
		}
	}
}

func TestProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "proxied "+r.URL.Host)
	}))
	defer proxy.Close()
	c, err := httpapi.NewClient(httpapi.ClientOptions{Proxy: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Get("http://model.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "proxied model.example" {
		t.Errorf("got %q", body)
	}
	if _, err := httpapi.NewClient(httpapi.ClientOptions{Proxy: "user:pass"}); err == nil || strings.Contains(err.Error(), "pass") {
		t.Errorf("a proxy that is no URL: %v", err)
	}
}

// A redirect is not followed: the key travels in headers.
func TestNoRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	c, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := (httpapi.Origin{Provider: "p"}).Refused(resp)
	if f.Kind != model.KindProtocol || !strings.Contains(f.Message, other.URL) {
		t.Errorf("got %v", f.Cause())
	}
}

func TestUnreachable(t *testing.T) {
	c, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Get("http://127.0.0.1:1/v1?key=sk-secret")
	f := (httpapi.Origin{Provider: "p", BaseURL: "http://u:pw@127.0.0.1:1/v1?key=sk-secret"}).Unreachable(err)
	got := f.Cause().Error()
	if f.Passing || !strings.Contains(got, "nothing listens at http://127.0.0.1:1/v1") || strings.Contains(got, "sk-secret") || strings.Contains(got, "pw") {
		t.Errorf("got %s", got)
	}
}

// The waits are real ones here, in a bubble where time passes at once.
func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := httpapi.Origin{Provider: "p"}
		start := time.Now()
		var shown []time.Duration
		_, err := httpapi.Retry{Attempts: 4}.Do(t.Context(), func(c model.Chunk) { shown = append(shown, c.Retry.Wait) },
			func(func(model.Chunk)) (model.Response, error) { return model.Response{}, origin.Truncated(nil) })
		var sum time.Duration
		for i, d := range shown {
			full := 500 * time.Millisecond << i
			if d > full || d < full*3/4 {
				t.Errorf("wait %d is %v, want up to a quarter less than %v", i, d, full)
			}
			sum += d
		}
		if len(shown) != 3 || time.Since(start) != sum {
			t.Errorf("showed %v and waited %v", shown, time.Since(start))
		}
		var e *model.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "4 times") {
			t.Errorf("error = %v", err)
		}
	})
}

// No wait is longer than the longest, and below zero there is none at all.
func TestRetryLongest(t *testing.T) {
	origin := httpapi.Origin{Provider: "p"}
	for _, tt := range []struct{ longest, most time.Duration }{{time.Second, time.Second}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			start, waits := time.Now(), 0
			_, _ = httpapi.Retry{Attempts: 6, Longest: tt.longest}.Do(t.Context(), func(c model.Chunk) {
				if waits++; c.Retry.Wait > tt.most {
					t.Errorf("wait of %v with %v as the longest", c.Retry.Wait, tt.longest)
				}
			}, func(func(model.Chunk)) (model.Response, error) { return model.Response{}, origin.Truncated(nil) })
			if waits != 5 || tt.most == 0 && time.Since(start) != 0 {
				t.Errorf("%d waits, in all %v", waits, time.Since(start))
			}
		})
	}
}

func TestRetryEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := httpapi.Origin{Provider: "p"}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		start := time.Now()
		resp, err := httpapi.Retry{}.Do(ctx, func(model.Chunk) {},
			func(func(model.Chunk)) (model.Response, error) { return model.Response{}, origin.Truncated(nil) })
		if !errors.Is(err, context.Canceled) || resp.Stop != model.StopAborted || time.Since(start) != 100*time.Millisecond {
			t.Errorf("got %v, %q after %v", err, resp.Stop, time.Since(start))
		}
	})
}

// What was shown is never shown again.
func TestRetryNotAfterEmission(t *testing.T) {
	origin := httpapi.Origin{Provider: "p"}
	tries := 0
	_, err := httpapi.Retry{}.Do(t.Context(), func(model.Chunk) {},
		func(emit func(model.Chunk)) (model.Response, error) {
			tries++
			emit(model.Chunk{Text: "Hel"})
			return model.Response{}, origin.Truncated(nil)
		})
	if tries != 1 || err == nil {
		t.Errorf("%d tries, %v", tries, err)
	}
}
