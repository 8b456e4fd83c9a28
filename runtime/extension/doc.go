// Package extension runs the extensions of a session: it starts them, greets
// them, keeps what they registered, carries calls to them and answers back,
// and stops them again.
//
//	m := extension.New(extension.Options{Plan: plan, Emit: bus.Publish})
//	m.Start(ctx)            // all at once; returns without waiting
//	m.WaitReady(ctx)        // until every one is ready or has failed
//	tools := m.Tools()      // in rank order, each name once
//	m.Stop(ctx)             // shutdown, closed input, SIGTERM, SIGKILL
//
// The nouns:
//
//   - An [Entry] is an installed extension that may run, with a way to start it.
//     Their order is their rank: it decides who owns a name and who is asked first,
//     however quickly each of them starts.
//   - A peer is an entry that runs. It has one reader (its own goroutine), one
//     ordered outbox, and a table of what it still owes an answer to.
//   - The registrations of all peers make the directory of commands and tools.
//
// Reading never waits on writing, a slow extension never holds up another, and
// an extension that dies fails everything that waits for it at once.
package extension
