// Package runtime holds the harness of zot: the loop between a model and its
// tools, the extensions that join in, and what they all share. The package
// itself has no code; docs/architecture.md maps the folders below it and says
// which of them may import which.
package runtime
