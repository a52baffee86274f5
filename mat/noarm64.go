//go:build !arm64 || purego || noasm

package mat

// stripNEON is the kernel of arm64, which this build lacks.
var stripNEON func(*strip)
