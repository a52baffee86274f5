//go:build !unix

package decode_test

import "time"

var processStart = time.Now()

// userSeconds returns the time since the start of the process: package syscall of this system has
// no CPU time.
func userSeconds() float64 { return time.Since(processStart).Seconds() }
