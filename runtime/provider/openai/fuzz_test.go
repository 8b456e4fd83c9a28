package openai_test

import (
	"net/http"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func FuzzStream(f *testing.F) {
	providertest.FuzzStream(f, func(hc *http.Client) model.Client {
		return openai.New(openai.Options{Provider: "fake", BaseURL: "http://fake/v1", HTTP: hc, Retry: httpapi.Retry{Attempts: 1}})
	},
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n: c\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":null},\"finish_reason\":\"length\"}]}\n\n",
		"data: {\"error\":{\"message\":\"too many tokens\",\"code\":500}}\n\n",
		"{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}]}",
		"data: {\"choices\":[null]}\n\n", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[null]}}],\"usage\":{}}",
	)
}
