//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package safetensors

import "os"

// load reads f into memory.
func load(f *os.File, size int) (content []byte, release func() error, err error) {
	return readWhole(f, size)
}
