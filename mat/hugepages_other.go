//go:build !linux

package mat

func useHugePages(x []float32) {}
