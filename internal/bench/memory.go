package bench

import "runtime"

// Memory is the most that the process had at once since it began.
type Memory struct {
	Bytes int64  `json:"bytes"`
	Of    string `json:"of"` // "resident" memory as the system counts it, or the "heap" and what belongs to it
}

// PeakMemory reads it from the system: VmHWM of /proc/self/status on Linux, the largest resident set of getrusage on other
// Unix. Linux' getrusage will not do, it begins with the peak of the process that started this one. Elsewhere it is what
// the Go runtime has at the moment.
func PeakMemory() Memory {
	if n := kilobytes(colonField("/proc/self/status", "VmHWM"), " kB"); n > 0 {
		return Memory{n, "resident"}
	}
	if n := maxResident(); n > 0 {
		return Memory{n, "resident"}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{int64(m.Sys - m.HeapReleased), "heap"}
}
