package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// mostAdded is what zot may add to the time of the model, in the median.
const mostAdded = time.Millisecond

// BenchmarkRPCPrompt compares `zot rpc` answering a prompt, from the command
// to done, with a bare HTTP client that makes the same request and reads the
// answer to its end. Beside the ratio it reports what zot adds.
func BenchmarkRPCPrompt(b *testing.B) {
	m := startModel(b)
	z := startRPC(b, m.URL)
	z.prompt(b) // the request that the bare client repeats, and all connections
	for b.Loop() {
		var ours, theirs []time.Duration
		for range 2000 {
			start := time.Now()
			m.ask(b)
			theirs = append(theirs, time.Since(start))

			z.command(b, `{"type":"clear"}`, `"command":"clear","success":true`)
			start = time.Now()
			z.prompt(b)
			ours = append(ours, time.Since(start))
		}
		report(b, ours, theirs)
		added := quantile(ours, .5) - quantile(theirs, .5)
		b.ReportMetric(float64(added.Nanoseconds())/1e3, "added-p50-µs")
		if added > mostAdded {
			b.Errorf("zot adds %v to a prompt, more than %v", added, mostAdded)
		}
	}
}

// A fixedModel always streams the same answer.
type fixedModel struct {
	*httptest.Server

	mu   sync.Mutex
	body []byte // of the last request
}

func startModel(b *testing.B) *fixedModel {
	var answer bytes.Buffer
	for _, word := range strings.Fields("a short answer of a dozen words that comes in as many pieces") {
		fmt.Fprintf(&answer, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" %s\"},\"finish_reason\":null}]}\n\n", word)
	}
	answer.WriteString("data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n")
	m := &fixedModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m.mu.Lock()
		m.body = body
		m.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer.Bytes())
	}))
	b.Cleanup(m.Close)
	return m
}

// ask makes the last request again.
func (m *fixedModel) ask(b *testing.B) {
	m.mu.Lock()
	body := m.body
	m.mu.Unlock()
	resp, err := http.Post(m.URL+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n == 0 {
		b.Fatalf("%d bytes, %v", n, err)
	}
}

// An rpcClient drives a `zot rpc`.
type rpcClient struct {
	in  io.Writer
	out *bufio.Reader
	pid int
}

func startRPC(b *testing.B, url string) *rpcClient {
	dir := b.TempDir()
	zot := filepath.Join(dir, "zot")
	if text, err := exec.Command("go", "build", "-buildvcs=false", "-o", zot, "github.com/patriceckhart/zot/cmd/zot").CombinedOutput(); err != nil {
		b.Fatalf("building zot: %v\n%s", err, text)
	}
	cmd := exec.Command(zot, "rpc", "--base-url", url, "--model", "fake", "--cwd", b.TempDir())
	cmd.Env = append(os.Environ(), "ZOT_HOME="+b.TempDir(), "ZOT_API_KEY=k")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	return &rpcClient{in: in, out: bufio.NewReaderSize(out, 1<<16), pid: cmd.Process.Pid}
}

func (c *rpcClient) prompt(b *testing.B) {
	c.command(b, `{"type":"prompt","message":"hello"}`, `{"type":"done"}`)
}

// command sends a command and reads up to a line with the given text.
func (c *rpcClient) command(b *testing.B, command, until string) {
	if _, err := io.WriteString(c.in, command+"\n"); err != nil {
		b.Fatal(err)
	}
	for {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(line, []byte(`"type":"error"`)) {
			b.Fatalf("%s", line)
		}
		if bytes.Contains(line, []byte(until)) {
			return
		}
	}
}
