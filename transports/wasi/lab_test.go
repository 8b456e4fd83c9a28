package wasi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
)

const labGuest = "./testdata/lab"

type request struct {
	ID      int    `json:"id"`
	Op      string `json:"op"`
	Text    string `json:"text,omitempty"`
	N       int    `json:"n,omitempty"`
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
	ID    int
	Text  string
	List  []string
	Errno uint32
}

// startLab starts the lab with those options.
func startLab(t testing.TB, o Options) *Conn {
	t.Helper()
	o.Module = guest(t, labGuest)
	return start(t, o)
}

func ask(t testing.TB, conn transports.Conn, r request) {
	t.Helper()
	frame, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.WriteFrame(frame, time.Now().Add(3*time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func next(t testing.TB, conn transports.Conn) response {
	t.Helper()
	frame, err := conn.ReadFrame()
	if err != nil {
		<-conn.Done()
		t.Fatalf("ReadFrame: %v; the guest: %v: %s", err, conn.Exit(), conn.Exit().StderrTail)
	}
	var r response
	if err := json.Unmarshal(frame, &r); err != nil {
		t.Fatalf("%q: %v", frame, err)
	}
	return r
}

func do(t testing.TB, conn transports.Conn, r request) response {
	t.Helper()
	ask(t, conn, r)
	return next(t, conn)
}

func awaitDone(t testing.TB, conn transports.Conn) transports.Exit {
	t.Helper()
	select {
	case <-conn.Done():
	case <-time.After(3 * time.Minute):
		t.Fatal("the guest has not ended")
	}
	return conn.Exit()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
