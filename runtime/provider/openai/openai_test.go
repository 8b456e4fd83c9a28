package openai_test

import (
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func newClient(t testing.TB, url string, retry httpapi.Retry, d openai.Dialect) *openai.Client {
	t.Helper()
	hc, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	return openai.New(openai.Options{
		Provider: "fake", BaseURL: url, APIKey: providertest.Key, AuthRemedy: "run zot login again",
		HTTP: hc, Retry: retry, Dialect: d,
		Cost: func(_ string, u message.Usage) float64 { return float64(u.Output) },
	})
}

func TestContract(t *testing.T) {
	providertest.Contract(t, providertest.Subject{
		Wire: providertest.Chat,
		New: func(t testing.TB, url string, retry httpapi.Retry) model.Client {
			return newClient(t, url, retry, openai.Dialect{})
		},
	})
}
