//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package bench

import (
	"runtime"
	"syscall"
)

// maxResident returns the maximum resident set size in bytes, 0 if it is unknown. Darwin counts in
// bytes, the BSDs in kilobytes.
func maxResident() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
