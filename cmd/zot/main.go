// Command zot is a coding agent for the terminal whose extensions can be
// trusted. See the README for what it does and docs/ for how.
package main

import (
	"os"

	"github.com/patriceckhart/zot/cmd/zot/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
