//go:build !linux && !purego && !noasm

package mat

// permitAMX reports false, because this operating system may not save tile registers.
func permitAMX() bool { return false }
