// The program hello is the smallest useful extension: two slash commands.
package main

import (
	"fmt"
	"os"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

// newExtension is apart from main so that a test can have it, too.
func newExtension() *ext.Extension {
	e := ext.New("hello", "1.0.0")
	e.Command("hello", "have the model greet someone", func(name string) ext.Response {
		if name == "" {
			name = "me"
		}
		return ext.Prompt("Say hello to " + name + ", briefly.")
	})
	// What depends on the host is registered once the host is known.
	e.OnHello(func(host ext.HostInfo) {
		e.Command("where", "show the project folder", func(string) ext.Response {
			return ext.Display("You are in " + host.CWD + ", talking to " + host.Model + ".")
		})
	})
	return e
}
