//go:build unix

package session

import "os"

// lockFlag never creates: the session itself is what is locked.
const lockFlag = os.O_RDWR

// lockPath is the session itself: locks do not keep others from reading it.
func lockPath(session string) string { return session }

func afterUnlock(string) {}
