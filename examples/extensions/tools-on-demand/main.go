// The program tools-on-demand keeps its tools out of the model's sight until
// the model asks for a group of them, which saves room in every request.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

// A converter is one of the hidden tools.
type converter struct {
	name, description string
	convert           func(float64) string
}

var groups = map[string][]converter{
	"length": {
		{"feet_to_metres", "Converts feet to metres.", func(v float64) string { return fmt.Sprintf("%.2f m", v*0.3048) }},
		{"miles_to_km", "Converts miles to kilometres.", func(v float64) string { return fmt.Sprintf("%.2f km", v*1.609344) }},
	},
	"temperature": {
		{"fahrenheit_to_celsius", "Converts degrees Fahrenheit to Celsius.", func(v float64) string { return fmt.Sprintf("%.1f °C", (v-32)/1.8) }},
	},
}

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "tools-on-demand:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("tools-on-demand", "1.0.0")
	topics := slices.Sorted(maps.Keys(groups))
	enum, _ := json.Marshal(topics) // strings always encode

	// The loader is the one tool that the model sees from the start.
	e.Tool("load_converters", "Makes exact unit converters available. Call it before converting units.",
		json.RawMessage(`{"type":"object","properties":{"topic":{"enum":`+string(enum)+`}},"required":["topic"]}`),
		func(args json.RawMessage) ext.ToolResult {
			var in struct{ Topic string }
			json.Unmarshal(args, &in) // what is not understood leaves the topic empty
			var names []string
			for _, c := range groups[in.Topic] {
				names = append(names, c.name)
			}
			if names == nil {
				return ext.TextErrorResult(fmt.Sprintf("there is no topic %q; there are %s", in.Topic, strings.Join(topics, ", ")))
			}
			res := ext.TextResult("available now: " + strings.Join(names, ", "))
			res.ActivateTools = names
			return res
		})

	for _, topic := range topics {
		for _, c := range groups[topic] {
			e.DeferredTool(c.name, c.description,
				json.RawMessage(`{"type":"object","properties":{"value":{"type":"number"}},"required":["value"]}`), c.call)
		}
	}
	return e
}

func (c converter) call(args json.RawMessage) ext.ToolResult {
	var in struct{ Value *float64 }
	if err := json.Unmarshal(args, &in); err != nil || in.Value == nil {
		return ext.TextErrorResult("value must be a number")
	}
	return ext.TextResult(c.convert(*in.Value))
}
