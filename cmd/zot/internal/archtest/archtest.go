// Package archtest keeps docs/architecture.md true: its test reads the table
// of packages there and fails where an import goes against it.
package archtest
