package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// The older calls that other processors have beside their successors do not
// exist here.
var neverHere, forksHere []uint32

func (f *program) refuseForeignNumbers() {}
