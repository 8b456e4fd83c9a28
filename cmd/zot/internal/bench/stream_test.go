package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

const deltas = 20_000

// startStream streams a recorded answer of deltas deltas.
func startStream(b testing.TB) string {
	var stream bytes.Buffer
	for i := range deltas {
		fmt.Fprintf(&stream, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null}]}`+"\n\n", i)
	}
	stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(stream.Bytes())
	}))
	b.Cleanup(srv.Close)
	return srv.URL
}

// alone is the counterpart: the same answer fetched, its events read and
// decoded into the plainest type that holds them, and nothing else.
func alone(b testing.TB, hc *http.Client, url string) {
	resp, err := hc.Post(url+"/chat/completions", "application/json", bytes.NewReader([]byte(`{"model":"m","stream":true}`)))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	r := sse.NewReader(resp.Body, 0)
	n := 0
	for {
		ev, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		if string(ev.Data) == "[DONE]" {
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
				FinishReason *string `json:"finish_reason"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(ev.Data, &c); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != deltas+1 {
		b.Fatalf("read %d events", n)
	}
}

func through(b testing.TB, c model.Client) {
	n := 0
	ask := model.Request{Model: "m", Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: "go"}}}}}
	_, err := c.Generate(b.Context(), ask, func(ch model.Chunk) { n++ })
	if err != nil || n != deltas {
		b.Fatalf("%d chunks, %v", n, err)
	}
}

// BenchmarkStream compares a streamed answer of 20,000 deltas through the
// client with reading and decoding the same event stream alone, turn by turn
// in one run, and reports the ratio.
func BenchmarkStream(b *testing.B) {
	url := startStream(b)
	hc, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		b.Fatal(err)
	}
	c := openai.New(openai.Options{Provider: "bench", BaseURL: url, HTTP: hc})
	var client, bare time.Duration
	for b.Loop() {
		start := time.Now()
		through(b, c)
		middle := time.Now()
		alone(b, hc, url)
		client += middle.Sub(start)
		bare += time.Since(middle)
	}
	n := float64(b.N)
	b.ReportMetric(float64(client.Microseconds())/n, "client-µs")
	b.ReportMetric(float64(bare.Microseconds())/n, "alone-µs")
	b.ReportMetric(float64(client)/float64(bare), "ratio")
}
