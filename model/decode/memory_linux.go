package decode

import (
	"syscall"
	"unsafe"

	"tfm/mat"
)

// hugePage is the alignment of memory, in bytes.
const hugePage = 2 << 20

// newMemory returns size bytes of zeros outside of Go's heap, in huge pages if the system has any,
// and a function that frees them. A product with few rows reads the weights as fast as memory
// allows, which is a quarter faster if an entry of the TLB covers 2 MB. Outside of the heap they do
// not delay the garbage collection of other memory.
func newMemory(size int) (memory []byte, free func() error) {
	mapped, err := syscall.Mmap(-1, 0, size+hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, size), nil
	}
	start := -uintptr(unsafe.Pointer(&mapped[0])) % hugePage
	memory = mapped[start:][:size:size]
	mat.HugePages(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(memory))), size/4))
	return memory, func() error { return syscall.Munmap(mapped) }
}
