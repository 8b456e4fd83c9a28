// The program fetcher is a guest of the scenarios: /fetch URL shows what came
// back.
package main

import (
	"context"
	"fmt"
	"log"

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
	if err := e.Run(); err != nil {
		log.Fatal(err)
	}
}
