// The program fetcher is a guest of the scenarios: /fetch URL shows what came
// back, /flood N URL how often what came.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	e := ext.New("fetcher", "1.0.0")
	e.Command("fetch", "fetch an address", func(url string) ext.Response {
		res, err := e.Fetch(context.Background(), ext.FetchRequest{URL: url})
		if err != nil {
			return ext.Display("refused: " + err.Error())
		}
		return ext.Display(fmt.Sprintf("%d %s", res.Status, res.Body))
	})
	e.Command("flood", "fetch an address many times at once", func(args string) ext.Response {
		var n int
		var url string
		_, _ = fmt.Sscan(args, &n, &url)
		codes := make(chan string, n)
		for range n {
			go func() {
				_, err := e.Fetch(context.Background(), ext.FetchRequest{URL: url})
				codes <- fmt.Sprint(err)
			}()
		}
		count := map[string]int{}
		for range n {
			said := <-codes
			count[said[strings.LastIndex(said, " ")+1:]]++ // the code comes last
		}
		return ext.Display(fmt.Sprint(count))
	})
	if err := e.Run(); err != nil {
		log.Fatal(err)
	}
}
