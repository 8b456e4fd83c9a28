package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/anthropic"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func FuzzStream(f *testing.F) {
	providertest.FuzzStream(f, func(hc *http.Client) model.Client {
		return anthropic.New(anthropic.Options{Provider: "fake", BaseURL: "http://fake/v1", HTTP: hc, Retry: httpapi.Retry{Attempts: 1}})
	},
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n",
		"data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"thinking\",\"thinking\":\"a\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"message_start\",\"message\":null}\n\ndata: {\"type\":\"error\"}\n\n",
		"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}",
	)
}
