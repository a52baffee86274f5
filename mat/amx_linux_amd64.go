//go:build !purego && !noasm

package mat

import "syscall"

// permitAMX requests permission for tile registers from Linux, without which it does not save them,
// and reports whether it was granted ("Using XSTATE features in user space applications",
// Documentation/arch/x86/xstate.rst).
func permitAMX() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, err := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return err == 0
}
