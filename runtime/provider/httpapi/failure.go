package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/patriceckhart/zot/runtime/model"
)

// maxBody is how much of a refusal is read: more than any server says in
// words, and little enough to read whatever a proxy answers instead.
const maxBody = 256 << 10

// An Origin is whom failures are about. Its fields but Provider may be zero.
type Origin struct {
	Provider string
	Model    string
	BaseURL  string
	// AuthRemedy says how to give a credential: "run zot login openai or set
	// OPENAI_API_KEY".
	AuthRemedy string
	// Secrets are replaced by "[key]" wherever a message repeats them.
	Secrets []string
	// Tools are the names of the tools of the request, so that a refusal that
	// points at one by position can name it.
	Tools []string
	Now   func() time.Time // nil means time.Now
}

// modelError lets Failure embed a model.Error beside having a method Error.
type modelError = model.Error

// A Failure is a failed attempt: a model.Error and what a retry must know.
type Failure struct {
	modelError
	// Passing says that the same request may succeed a little later.
	Passing bool
	// After is the wait that the server asked for; 0 where it did not.
	After time.Duration
	// Code is the server's own short word for the failure; empty where it
	// gave none.
	Code string
}

// Unwrap lets errors.As find the *model.Error.
func (f *Failure) Unwrap() error { return &f.modelError }

// Cause returns the failure as callers of a model see it.
func (f *Failure) Cause() *model.Error { return &f.modelError }

func (o Origin) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Origin) failure(kind model.Kind, msg string) *Failure {
	return &Failure{modelError: model.Error{Provider: o.Provider, Model: o.Model, Kind: kind, Message: o.redact(msg)}}
}

func (o Origin) redact(s string) string {
	for _, secret := range o.Secrets {
		if len(secret) >= 4 { // a shorter one would take words apart
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}

// Refused reads a response whose status is not 2xx and closes it.
func (o Origin) Refused(resp *http.Response) *Failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	resp.Body.Close()
	w := readWords(body, resp.Header.Get("Content-Type"))
	if w.text == "" {
		w.text = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return o.redirected(resp)
	}
	f := o.classify(resp.StatusCode, w)
	f.After = retryAfter(resp.Header, w.raw, o.now())
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		f.Passing = f.Kind != model.KindOverflow
	case "false":
		f.Passing = false
	}
	return f
}

func (o Origin) redirected(resp *http.Response) *Failure {
	to := redactURL(resp.Header.Get("Location"))
	f := o.failure(model.KindProtocol, fmt.Sprintf("the server redirects to %q, and the key is sent to no other place", to))
	f.Status = resp.StatusCode
	f.Remedy = "set the base URL to where it redirects if you trust it"
	return f
}

// InStream reads an error that came inside a successful response: the value
// of its "error" field, or a whole event.
func (o Origin) InStream(data []byte) *Failure {
	w := readWords(data, "application/json")
	if w.text == "" {
		w.text = "the server reported an error without words"
	}
	f := o.classify(w.status, w)
	if w.status == 0 && f.Kind == model.KindBadRequest {
		// Nothing says whose fault it is; the server had accepted the request.
		f.Kind, f.Passing = model.KindUnavailable, true
	}
	f.After = retryAfter(nil, w.raw, o.now())
	return f
}

// Protocol says that the server answered something else than was asked.
func (o Origin) Protocol(format string, args ...any) *Failure {
	f := o.failure(model.KindProtocol, fmt.Sprintf(format, args...))
	f.Remedy = "check that the base URL is that of the API and not of a web page"
	return f
}

// Truncated says that the stream ended before the answer did.
func (o Origin) Truncated(cause error) *Failure {
	f := o.failure(model.KindTruncated, "the answer broke off: the connection closed before its end")
	if cause != nil {
		f.Message = o.redact("the answer broke off: " + plain(cause))
		f.Err = cause
	}
	f.Remedy = "send the message again to continue"
	f.Passing = true
	return f
}

// Unreachable reads the error of a request that got no response.
func (o Origin) Unreachable(err error) *Failure {
	f := o.failure(model.KindUnavailable, plain(err))
	f.Passing, f.Err = true, err
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	at := redactURL(o.BaseURL)
	switch {
	case isRefused(err):
		f.Message = "nothing listens at " + at
		f.Remedy = "start the server, or correct the base URL"
		f.Passing = false
	case errors.As(err, &cert), errors.As(err, &unknown):
		f.Remedy = "name the certificate authority's file in the setting caFile, or accept any certificate with --insecure"
		f.Passing = false
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Message = fmt.Sprintf("there is no host %q", dns.Name)
		f.Remedy = "check the base URL and the network"
		f.Passing = false
	case errors.Is(err, ErrIdle):
		f.Remedy = "send the message again"
	default:
		f.Remedy = "check the network and try again"
	}
	return f
}

// isRefused reports whether nothing listens at an address. Windows has its own
// number for it, which the portable name does not cover.
func isRefused(err error) bool {
	const wsaConnRefused = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaConnRefused)
}

// plain strips the method and URL that net/http puts before a cause: the URL
// may carry a credential.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the connection closed"
	}
	return err.Error()
}

func redactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(an address that is not a URL)"
	}
	u.User, u.RawQuery, u.Fragment, u.Opaque = nil, "", "", ""
	return u.String()
}

// classify decides what a refusal is and what can be done about it.
func (o Origin) classify(status int, w words) *Failure {
	f := o.failure(model.KindBadRequest, w.text)
	f.Status, f.Code = status, w.code
	switch {
	case isOverflow(status, w):
		f.Kind = model.KindOverflow
		f.Remedy = "shorten the conversation with /compact, or choose a model with a larger window"
	case isQuota(w):
		f.Kind = model.KindRateLimit
		f.Remedy = "check the account's balance and limits"
	case status == http.StatusTooManyRequests || codeIs(w, "rate_limit_error", "rate_limit_exceeded", "resource_exhausted"):
		f.Kind, f.Passing = model.KindRateLimit, true
		f.Remedy = "wait a little, or choose another model"
	case status == http.StatusUnauthorized || status == http.StatusForbidden || codeIs(w, "authentication_error", "invalid_api_key", "permission_error") ||
		strings.Contains(strings.ToLower(w.text), "api key not valid"):
		f.Kind, f.Remedy = model.KindAuth, o.AuthRemedy
	case status == http.StatusNotFound || codeIs(w, "model_not_found", "not_found_error"):
		f.Kind = model.KindNotFound
		f.Remedy = "choose one of the models that zot --list-models shows, or check the base URL"
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooEarly || status >= 500 ||
		codeIs(w, "overloaded_error", "api_error", "server_error", "internal_server_error", "service_unavailable"):
		f.Kind, f.Passing = model.KindUnavailable, true
		f.Remedy = "try again later, or choose another model"
	default:
		o.blameTool(f, w)
	}
	return f
}

func codeIs(w words, codes ...string) bool {
	return slices.Contains(codes, strings.ToLower(w.code)) || slices.Contains(codes, strings.ToLower(w.kind))
}

// isQuota reports whether waiting a minute cannot help: the account is empty.
func isQuota(w words) bool {
	if codeIs(w, "insufficient_quota", "billing_error", "billing_hard_limit_reached") {
		return true
	}
	text := strings.ToLower(w.text)
	return strings.Contains(text, "insufficient balance") || strings.Contains(text, "insufficient credits") ||
		strings.Contains(text, "credit balance is too low") || strings.Contains(text, "exceeded your current quota")
}

// FailureOf returns err as a Failure: as it is, or as one of o. The end of a
// context stays itself.
func (o Origin) FailureOf(ctx context.Context, err error) error {
	var f *Failure
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		return f
	}
	return o.Unreachable(err)
}
