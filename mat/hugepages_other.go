//go:build !linux

package mat

// HugePages does nothing here. On Linux it asks for huge pages for x.
func HugePages(x []float32) {}
