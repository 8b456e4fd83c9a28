package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

// pick is a program of the scenarios, which cannot count on those of a system:
//
//	pick [-c] REGEXP FILE...
//
// It prints what the first group of the expression matches in the files, a line
// each; with -c every text once, after the number of times that it is there.
func pick(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("pick", flag.ContinueOnError)
	fs.SetOutput(stderr)
	count := fs.Bool("c", false, "count")
	if fs.Parse(args) != nil {
		return 2
	}
	expr, err := regexp.Compile(fs.Arg(0))
	if err != nil || expr.NumSubexp() < 1 || fs.NArg() < 2 {
		fmt.Fprintln(stderr, "pick: give an expression with a group, and files:", err)
		return 2
	}
	var found []string
	times := map[string]int{}
	for _, file := range fs.Args()[1:] {
		data, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		for _, m := range expr.FindAllSubmatch(data, -1) {
			text := string(m[1])
			if times[text]++; times[text] == 1 || !*count {
				found = append(found, text)
			}
		}
	}
	for _, text := range found {
		if *count {
			fmt.Fprint(stdout, times[text], " ")
		}
		fmt.Fprintln(stdout, text)
	}
	return 0
}
