// Guest is a program of the contract suite as a command: its first argument is
// the program's name. Tests build it for what they run.
package main

import (
	"fmt"
	"os"

	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: %s program, one of %q\n", os.Args[0], peer.Names())
		os.Exit(2)
	}
	peer.Process(os.Args[1])
}
