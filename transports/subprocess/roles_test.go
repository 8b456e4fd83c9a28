//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// roleVar makes this test binary be one of the programs below, for what needs
// a real process.
const roleVar = "ZOT_TEST_ROLE"

var roles = map[string]func() int{
	"wrapper":  wrapper,
	"leaver":   leaver,
	"blocking": blocking,
	"host":     host,
	"environ":  environ,
	"extra":    extra,
}

// wrapper starts a grandchild in the background, as a shell script would, says
// its number and stays. Neither leaves when asked.
func wrapper() int {
	signal.Ignore(syscall.SIGTERM)
	return withGrandchild(func() { time.Sleep(time.Hour) })
}

// leaver does the same, but goes at once and leaves its streams to the
// grandchild.
func leaver() int {
	signal.Ignore(syscall.SIGTERM)
	return withGrandchild(func() {})
}

func withGrandchild(then func()) int {
	cmd := exec.Command("sleep", "3600") // it inherits the ignored signal
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("{\"grandchild\":%d}\n", cmd.Process.Pid)
	then()
	return 0
}

// blocking says whether its streams are in blocking mode, as programs expect.
func blocking() int {
	fmt.Printf("[%v,%v,%v]\n", isBlocking(0), isBlocking(1), isBlocking(2))
	return 0
}

// host starts a process of its own and says its number, for a test that kills
// this one.
func host() int {
	path, _ := os.Executable()
	var conns []*Conn
	for range 2 { // the second must not hold the input of the first
		conn, err := Start(context.Background(), Options{Path: path, Env: []string{"ZOT_TEST_PEER=" + os.Getenv("CHILD")}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		conns = append(conns, conn)
	}
	fmt.Printf("[%d,%d]\n", conns[0].Pid(), conns[1].Pid())
	time.Sleep(time.Hour)
	return 0
}

func environ() int {
	for _, entry := range os.Environ() {
		fmt.Printf("%q\n", entry)
	}
	return 0
}

// extra gives back what it reads from descriptor 3.
func extra() int {
	text, err := io.ReadAll(os.NewFile(3, "extra"))
	fmt.Printf("[%q,%t]\n", text, err == nil)
	return 0
}
