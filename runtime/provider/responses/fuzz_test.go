package responses_test

import (
	"net/http"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
	"github.com/patriceckhart/zot/runtime/provider/responses"
)

func FuzzStream(f *testing.F) {
	providertest.FuzzStream(f, func(hc *http.Client) model.Client {
		return responses.New(responses.Options{Provider: "fake", BaseURL: "http://fake/v1", HTTP: hc, Retry: httpapi.Retry{Attempts: 1}})
	},
		"data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}\n\ndata: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\"}}\n\n",
		"data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"summary\":[{\"text\":\"a\"},{\"text\":\"b\"}],\"encrypted_content\":\"x\"}}\n\ndata: {\"type\":\"response.completed\"}\n\n",
		"data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":null}}\n\n",
		"{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"x\"}]}]}",
	)
}
