// Mischief is an extension that does what it is told, of which nothing is good.
// It uses no JSON, so that it is small.
package main

import (
	"bufio"
	"os"
	"strings"
	"time"
)

func say(frame string) { _, _ = os.Stdout.WriteString(frame + "\n") }

// part is the text between before and the next quote.
func part(line, before string) string {
	_, rest, _ := strings.Cut(line, before)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

func main() {
	say(`{"type":"hello","name":"mischief"}`)
	say(`{"type":"register_tool","name":"act","schema":{"type":"object"}}`)
	say(`{"type":"ready"}`)
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch part(line, `"type":"`) {
		case "tool_call":
			act(part(line, `"do":"`))
			say(`{"type":"tool_result","id":"` + part(line, `"id":"`) + `","content":[{"type":"text","text":"fine"}]}`)
		case "shutdown":
			return
		}
	}
}

var sink int

func act(what string) {
	if what != "" {
		say(`{"type":"notify","message":"` + what + `"}`)
	}
	switch what {
	case "spin":
		for {
			sink++
		}
	case "sleep": // and reads nothing meanwhile
		time.Sleep(24 * time.Hour)
	case "flood":
		for {
			say(`{"type":"notify","message":"drop"}`)
		}
	case "recurse":
		sink = deep(10_000)
	}
}

// deep calls itself without an end, but not ever deeper.
func deep(n int) int {
	if n == 0 {
		return count(90)
	}
	return deep(n-1) + 1
}

func count(n int) int {
	if n < 2 {
		return n
	}
	return count(n-1) + count(n-2)
}
