//go:build !unix

package session

import "os"

const lockFlag = os.O_CREATE | os.O_RDWR

// lockPath is a file of its own: here a lock would keep this process's other
// handles from the session.
func lockPath(session string) string { return session + ".lock" }

// afterUnlock removes the lock's file; one that another process has open stays.
func afterUnlock(path string) { _ = os.Remove(path) }
