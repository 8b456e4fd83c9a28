package home

// ManagedDir is where an administrator puts settings.
func ManagedDir() string { return "/Library/Application Support/zot-managed" }
