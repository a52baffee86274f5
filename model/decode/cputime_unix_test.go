//go:build unix

package decode_test

import "syscall"

// userSeconds returns the CPU time of the process in user mode.
func userSeconds() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
}
