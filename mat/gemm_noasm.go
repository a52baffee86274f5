//go:build (!amd64 && !arm64) || purego || noasm

package mat

// Builds without assembly pack nothing.

func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {}

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {}

func fmaLoop(n int) float64 { return fmaLoopGeneric(n) }
