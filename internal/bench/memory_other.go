//go:build !(darwin || dragonfly || freebsd || netbsd || openbsd)

package bench

// maxResident returns 0: unknown.
func maxResident() int64 { return 0 }
