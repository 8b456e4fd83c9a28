// Compiler compiles a module into a cache folder, as zot would. It is a program
// of its own since it is built without the race detector, with which compiling
// takes ten times as long.
//
//	compiler MODULE FOLDER ISOLATION
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/patriceckhart/zot/transports/wasi"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == wasi.RunnerArg {
		os.Exit(wasi.RunnerMain(os.Args[2:]))
	}
	err := wasi.Compile(context.Background(), wasi.Options{
		Path: os.Args[1], Cache: os.Args[2], Isolation: wasi.Isolation(os.Args[3]), StartMax: 10 * time.Minute,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
