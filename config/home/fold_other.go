//go:build darwin || windows

package home

import "strings"

func fold(path string) string { return strings.ToLower(path) }
