// Package rpcproto is the wire between zot and a program that drives it: the
// commands that `zot rpc` reads, the responses it answers with, and the events
// that it and `zot --json` write. Each is one JSON object on one line; an
// object's "type" tells which of the types of this package it is.
//
// A client writes a [Command], reads lines with [DecodeLine] and sorts them:
//
//	{"id":"1","type":"prompt","message":"hello"}        client, Command
//	{"type":"response","id":"1","command":"prompt",…}   zot, Response
//	{"type":"turn_start","step":1}                      zot, Event
//	{"type":"text_delta","delta":"Hi"}
//	{"type":"done"}
//
// The protocol grows by addition only. Clients ignore fields they do not know,
// and event types that [DecodeLine] reports as *UnknownTypeError.
//
// schemas/rpc holds the same shapes as JSON Schema, and docs/rpc.md tells the
// order in which they come.
package rpcproto

// Version is the number in the answer to hello.
const Version = 1

// MaxLine is the longest line in bytes that `zot rpc` reads, terminator not
// counted.
const MaxLine = 16 << 20

// TokenVariable names the environment variable that makes a hello with its
// value the first thing that `zot rpc` takes.
const TokenVariable = "ZOTCORE_RPC_TOKEN"
