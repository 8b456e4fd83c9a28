package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var neverHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}

var forksHere = []uint32{unix.SYS_FORK, unix.SYS_VFORK}

// refuseForeignNumbers refuses the numbers of the x32 variant, which reach the
// same calls by another name.
func (f *program) refuseForeignNumbers() {
	const x32 = 0x40000000
	f.add(jumpFrom, x32, 0, 1)
	f.answer(answerENOSYS)
}
