//go:build !(darwin || dragonfly || freebsd || netbsd || openbsd)

package bench

func maxResident() int64 { return 0 }
