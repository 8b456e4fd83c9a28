package provider_test

import (
	"fmt"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

// Every service that is built in keeps the contract, with what is particular
// about it.
func TestContractOfEachService(t *testing.T) {
	for _, info := range provider.All() {
		if info.ID == provider.DemoID {
			continue
		}
		s := providertest.Subject{Wire: providertest.Chat, New: priced(info.ID)}
		if info.API == provider.APIAnthropic {
			s.Wire, s.NoReasoningCount = providertest.Messages, true
		}
		t.Run(info.ID, func(t *testing.T) {
			t.Parallel()
			providertest.Contract(t, s)
		})
	}
}

// priced makes the client of a service as a user's choice does, with a model
// whose answers cost a dollar a token.
func priced(id string) func(testing.TB, string, httpapi.Retry) model.Client {
	return func(t testing.TB, baseURL string, retry httpapi.Retry) model.Client {
		t.Helper()
		text := fmt.Sprintf(`{"providers":{%q:{"models":[{"id":"fake","priceInput":0,"priceOutput":1000000}]}}}`, id)
		known, err := provider.Builtin().Overlay("models.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := provider.New(provider.Options{
			Provider: id, Model: "fake", BaseURL: baseURL, APIKey: providertest.Key, Catalogue: known, Retry: retry,
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}
