//go:build !darwin && !windows

package home

func fold(path string) string { return path }
