//go:build !purego && !noasm

package mat

import "syscall"

// permitAMX asks Linux for the use of tile registers, which it keeps for a process only from then
// on, and reports whether it agrees ("Using XSTATE features in user space applications",
// Documentation/arch/x86/xstate.rst).
func permitAMX() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, err := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return err == 0
}
