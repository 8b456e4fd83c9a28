package fetch_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/patriceckhart/zot/runtime/fetch"
)

// TestInwardIsTold: what a pattern of the grant reaches and that lies in the
// user's own network is refused, and the host is told of it.
func TestInwardIsTold(t *testing.T) {
	n := internet(t, func(http.ResponseWriter, *http.Request) {})
	n.grant = []string{"*.example.com:80"}
	n.names["inside.example.com"] = []string{"10.0.0.1"}
	var told []string
	f := fetch.New(fetch.Options{Allowed: n.allowed, Named: n.named, Resolver: n, Dial: n.dial, Inward: func(extension, hostport string) {
		told = append(told, extension+" "+hostport)
	}})
	_, err := f.Serve(context.Background(), "weather", json.RawMessage(`{"url":"http://inside.example.com/"}`))
	wantCode(t, err, "denied", "not on the public internet")
	if want := []string{"weather inside.example.com:80"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if len(n.dialed) != 0 {
		t.Errorf("dialled %q", n.dialed)
	}
}
