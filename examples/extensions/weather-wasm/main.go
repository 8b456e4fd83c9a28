// The program weather-wasm asks a weather service over HTTPS. A WebAssembly
// module has no sockets: zot makes the request, to the two hosts that the
// manifest names and the user has granted.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "weather-wasm:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("weather-wasm", "1.0.0")
	e.ToolWithOptions("weather_now", "Current temperature and wind in a city, measured. Use it whenever the user asks about the weather.",
		json.RawMessage(`{
			"type": "object",
			"properties": {"city": {"type": "string", "description": "name of the city"}},
			"required": ["city"]
		}`), ext.ToolOptions{},
		func(ctx context.Context, args json.RawMessage) ext.ToolResult {
			var in struct{ City string }
			if err := json.Unmarshal(args, &in); err != nil || in.City == "" {
				return ext.TextErrorResult(`give the city as text, like {"city":"Oslo"}`)
			}
			text, err := weather(ctx, e, in.City)
			if err != nil {
				return ext.TextErrorResult(err.Error())
			}
			return ext.TextResult(text)
		})
	return e
}

// weather finds the city and asks for its weather.
func weather(ctx context.Context, e *ext.Extension, city string) (string, error) {
	var found struct {
		Results []struct {
			Name, Country       string
			Latitude, Longitude float64
		}
	}
	if err := get(ctx, e, "https://geocoding-api.open-meteo.com/v1/search?count=1&name="+url.QueryEscape(city), &found); err != nil {
		return "", err
	}
	if len(found.Results) == 0 {
		return "", fmt.Errorf("no city is called %q", city)
	}
	place := found.Results[0]
	var now struct {
		Current struct {
			Celsius float64 `json:"temperature_2m"`
			Wind    float64 `json:"wind_speed_10m"`
		}
	}
	address := fmt.Sprintf("https://api.open-meteo.com/v1/forecast?latitude=%g&longitude=%g&current=temperature_2m,wind_speed_10m",
		place.Latitude, place.Longitude)
	if err := get(ctx, e, address, &now); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s: %.1f °C, wind %.0f km/h", place.Name, place.Country, now.Current.Celsius, now.Current.Wind), nil
}

// get fetches JSON. What is not granted comes back as an error with the code
// "denied".
func get(ctx context.Context, e *ext.Extension, address string, into any) error {
	res, err := e.Fetch(ctx, ext.FetchRequest{URL: address, Headers: map[string]string{"Accept": "application/json"}})
	var refused *ext.RequestError
	switch {
	case errors.As(err, &refused) && refused.Code == "denied":
		return fmt.Errorf("zot may not connect there for weather-wasm: %s", refused.Message)
	case err != nil:
		return err
	case res.Status != 200:
		return fmt.Errorf("the weather service answered with status %d", res.Status)
	}
	if err := json.Unmarshal(res.Body, into); err != nil {
		return fmt.Errorf("reading the weather service's answer: %w", err)
	}
	return nil
}
