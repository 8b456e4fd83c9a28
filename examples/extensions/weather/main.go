// The program weather gives the model a tool. Its data is a file, so that the
// example works anywhere.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

//go:embed cities.json
var citiesJSON []byte

type report struct {
	City    string `json:"city"`
	Celsius int    `json:"celsius"`
	Sky     string `json:"sky"`
}

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "weather:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("weather", "1.0.0")
	e.Tool("weather",
		"Current weather of a city. Use it whenever the user asks about the weather; do not guess.",
		json.RawMessage(`{
			"type": "object",
			"properties": {"city": {"type": "string", "description": "English name of the city"}},
			"required": ["city"]
		}`),
		look)
	return e
}

// look answers one call. The model may send anything, so arguments are checked,
// and a failure says what would work.
func look(args json.RawMessage) ext.ToolResult {
	var in struct{ City string }
	if err := json.Unmarshal(args, &in); err != nil || in.City == "" {
		return ext.TextErrorResult(`give the city as text, like {"city":"Berlin"}`)
	}
	reports := map[string]report{}
	if err := json.Unmarshal(citiesJSON, &reports); err != nil {
		return ext.TextErrorResult("reading cities.json: " + err.Error())
	}
	r, ok := reports[strings.ToLower(strings.TrimSpace(in.City))]
	if !ok {
		known := slices.Sorted(maps.Keys(reports))
		return ext.TextErrorResult(fmt.Sprintf("no data for %q; there is some for %s", in.City, strings.Join(known, ", ")))
	}
	res := ext.TextResult(fmt.Sprintf("%s: %d °C, %s", r.City, r.Celsius, r.Sky))
	res.StructuredContent, _ = json.Marshal(r) // for programs; a struct of plain fields always encodes
	return res
}
