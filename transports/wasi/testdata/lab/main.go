// Lab is the guest of the tests: it does what each line of its input asks.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"time"
)

type request struct {
	ID   int    `json:"id"`
	Op   string `json:"op"`
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`

	// For calls of the file system.
	Path    string `json:"path,omitempty"`
	To      string `json:"to,omitempty"`
	Follow  bool   `json:"follow,omitempty"`
	Oflags  uint16 `json:"oflags,omitempty"`
	Fdflags uint16 `json:"fdflags,omitempty"`
	Rights  uint64 `json:"rights,omitempty"`
	Dir     int32  `json:"dir,omitempty"`  // which mount Path is in
	Dir2    int32  `json:"dir2,omitempty"` // and To, where it is a path
	Then    string `json:"then,omitempty"` // what to do to the open file
}

type response struct {
	ID    int      `json:"id"`
	Text  string   `json:"text,omitempty"`
	List  []string `json:"list,omitempty"`
	Errno uint32   `json:"errno"`
}

var out struct {
	sync.Mutex
	*json.Encoder
}

func answer(r response) {
	out.Lock()
	defer out.Unlock()
	_ = out.Encode(r)
}

func main() {
	out.Encoder = json.NewEncoder(os.Stdout)
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		spin()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		if r.Op == "close-stdin" {
			answer(response{ID: r.ID, Errno: closeFd(0)})
			return
		}
		switch r.Op { // at once, before anything else has a turn
		case "spin":
			spin()
		case "alloc":
			alloc()
		case "recurse":
			sink = count(90)
		case "alloc-once":
			kept = append(kept, make([]byte, r.N))
		}
		go serve(r)
	}
	if len(os.Args) > 1 && os.Args[1] == "spin-at-end" {
		spin()
	}
}

func serve(r request) {
	a := response{ID: r.ID}
	switch r.Op {
	case "echo":
		a.Text = r.Text
	case "sleep":
		time.Sleep(time.Duration(r.N) * time.Millisecond)
	case "tick":
		for n := range r.N {
			time.Sleep(10 * time.Millisecond)
			answer(response{ID: n})
		}
	case "burst":
		for n := range r.N {
			answer(response{ID: n, Text: "flood"})
		}
	case "exit":
		os.Exit(r.N)
	case "panic":
		panic(r.Text)
	case "args":
		a.List = os.Args
	case "env":
		a.List = os.Environ()
	case "elapsed":
		began := time.Now()
		time.Sleep(time.Duration(r.N) * time.Millisecond)
		a.Text = time.Since(began).String()
	case "fill", "hold", "walk":
		a.List, a.Text = library(r)
	default:
		a = files(r)
	}
	answer(a)
}

var sink int

func spin() {
	for {
		sink++
	}
}

func count(n int) int {
	if n < 2 {
		return n
	}
	return count(n-1) + count(n-2)
}

var kept [][]byte

func alloc() {
	for {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		kept = append(kept, block)
	}
}
