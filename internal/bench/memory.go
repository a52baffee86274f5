package bench

import (
	"cmp"
	"runtime"
)

// Memory is the peak memory of the process since its start.
type Memory struct {
	Bytes int64  `json:"bytes"`
	Of    string `json:"of"` // "resident", the system's count, or "heap", the Go runtime's
}

// PeakMemory returns the peak memory. It is VmHWM of /proc/self/status on Linux, because the value
// of getrusage there starts at the peak of the parent process; the maximum resident set of
// getrusage on other Unix systems; and elsewhere the memory that the Go runtime currently holds.
func PeakMemory() Memory {
	if n := cmp.Or(kilobytes(colonField("/proc/self/status", "VmHWM"), " kB"), maxResident()); n > 0 {
		return Memory{n, "resident"}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{int64(m.Sys - m.HeapReleased), "heap"}
}
