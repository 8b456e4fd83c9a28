// Package ext is the SDK for writing zot extensions in Go.
//
// An extension is a program that zot starts and talks to over standard input
// and output. Describe what it offers, then call [Extension.Run], which
// returns when zot is done with it:
//
//	func main() {
//		e := ext.New("hello", "1.0.0")
//		e.Command("hello", "greet someone", func(who string) ext.Response {
//			return ext.Prompt("Say hello to " + who + ".")
//		})
//		if err := e.Run(); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// The nouns are: a command, which the user types ([Extension.Command]); a
// tool, which the model calls ([Extension.Tool] and its variants); an event,
// which one is told of ([Extension.On]); an interceptor, which is asked and may
// refuse or rewrite (Intercept…); a panel, a small screen of the extension's
// own ([Extension.OnPanelKey]); a note, a line for the user's eyes
// ([Extension.Notify]). Everything may be registered before Run, in
// [Extension.OnHello], or later.
//
// # What runs when
//
// Commands, tool calls and interceptors each run on a goroutine of their own,
// so they may meet. Event handlers run one after the other in the order of the
// events, and so do the keys of one panel. The context that a handler gets, and
// [Extension.Context], ends when zot abandons the call or the run is over.
//
// A handler that panics fails alone: a command or tool answers with an error,
// an interceptor lets the action pass unchanged, and the panic is logged.
//
// Standard output belongs to the protocol. Log with [Extension.Logf], which
// writes to standard error; zot keeps that in the extension's log file.
//
// The same code also compiles for GOOS=wasip1 GOARCH=wasm. Package exttest
// tests an extension without zot. docs/extensions.md has the whole protocol.
package ext
