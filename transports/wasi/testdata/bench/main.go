// Bench is the guest of the measurements: an extension as small as one is that
// reads and writes JSON. It is built as a module and for the system.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

type call struct {
	Type string `json:"type"`
	ID   string `json:"id"`
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
		if c.Args.N > 0 { // how long computing takes by its own clock
			began := time.Now()
			sink = fib(c.Args.N)
			text = time.Since(began).String()
		}
		_ = out.Encode(result{Type: "tool_result", ID: c.ID, Content: []block{{"text", text}}})
	}
}

var sink int

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
