// Bench is the guest of the measurements: an extension as small as one is that
// reads and writes JSON. It is built as a module and for the system.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

type call struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
	Args struct {
		Text string `json:"text"`
		N    int    `json:"n"`
	} `json:"args"`
}

type result struct {
	Type    string  `json:"type"`
	ID      string  `json:"id"`
	Content []block `json:"content"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	fmt.Println(`{"type":"hello","name":"bench","version":"1.0.0"}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		text := c.Args.Text
		switch c.Name { // how long computing takes by its own clock
		case "fib":
			began := time.Now()
			sink = fib(c.Args.N)
			text = time.Since(began).String()
		case "json":
			text = median(c.Args.N, func() { echo(lines.Bytes(), json.NewEncoder(io.Discard)) }).String()
		}
		answer(out, c.ID, text)
	}
}

// echo is all that a call of the tool echo takes in here.
func echo(line []byte, out *json.Encoder) {
	var c call
	if err := json.Unmarshal(line, &c); err != nil {
		panic(err)
	}
	answer(out, c.ID, c.Args.Text)
}

func answer(out *json.Encoder, id, text string) {
	_ = out.Encode(result{Type: "tool_result", ID: id, Content: []block{{"text", text}}})
}

// median is how long a piece of work takes, of n times.
func median(n int, work func()) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		work()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2]
}

var sink int

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
