package subprocess

import (
	"os"
	"testing"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

// peerVar makes this test binary be the program of that name.
const peerVar = "ZOT_TEST_PEER"

func TestMain(m *testing.M) {
	if name := os.Getenv(peerVar); name != "" {
		peer.Process(name)
	}
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(roles[role]())
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, p transporttest.Program) transports.Conn {
		return start(t, Options{Path: self(t), Env: []string{peerVar + "=" + p.Name, "GORACE=atexit_sleep_ms=0"}, Stderr: p.Stderr, MaxFrame: p.MaxFrame})
	})
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a process that the test stops.
func start(t testing.TB, o Options) *Conn {
	t.Helper()
	conn, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
