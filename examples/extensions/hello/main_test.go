package main

import (
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

func TestHello(t *testing.T) {
	zot := exttest.Start(t, newExtension())
	if got := zot.Command("hello", "Ada"); got.Prompt != "Say hello to Ada, briefly." {
		t.Errorf("/hello Ada gave %+v", got)
	}
	if got := zot.Command("hello", ""); got.Prompt != "Say hello to me, briefly." {
		t.Errorf("/hello gave %+v", got)
	}
}

func TestWhere(t *testing.T) {
	zot := exttest.StartWith(t, newExtension(), exttest.Options{Ack: extproto.HelloAck{CWD: "/proj", Model: "m1"}})
	if got := zot.Command("where", ""); got.Display != "You are in /proj, talking to m1." {
		t.Errorf("/where gave %+v", got)
	}
}
