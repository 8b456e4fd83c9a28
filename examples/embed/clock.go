package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patriceckhart/zot/runtime/tool"
)

// clock is a tool of the program's own.
type clock struct{}

func (clock) Spec() tool.Spec {
	return tool.Spec{
		Name: "clock", Description: "Tells the date and the time.",
		Schema: json.RawMessage(`{"type": "object", "properties": {}}`),
	}
}

func (clock) Run(context.Context, tool.Call) (tool.Result, error) {
	return tool.TextResult(time.Now().Format("Monday, 2 January 2006, 15:04 MST")), nil
}
