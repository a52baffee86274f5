//go:build !linux && !purego && !noasm

package mat

// permitAMX reports that nobody knows whether the operating system keeps tile registers.
func permitAMX() bool { return false }
