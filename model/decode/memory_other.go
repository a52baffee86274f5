//go:build !linux

package decode

// newMemory returns size bytes of zeros. On Linux they are in huge pages, and free is not nil.
func newMemory(size int) (memory []byte, free func() error) { return make([]byte, size), nil }
