package decode

import (
	"syscall"
	"unsafe"
)

// hugePage is the size and alignment of a huge page of amd64, and of arm64 with pages of 4 KB.
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
	if size >= hugePage {
		syscall.Madvise(mapped, syscall.MADV_HUGEPAGE) // an error means that it has none
	}
	start := -uintptr(unsafe.Pointer(&mapped[0])) % hugePage
	return mapped[start:][:size:size], func() error { return syscall.Munmap(mapped) }
}

// adviseHugePages asks for huge pages for x, which is in Go's heap.
func adviseHugePages(x []float32) {
	first := unsafe.Pointer(unsafe.SliceData(x))
	start, end := -uintptr(first)%hugePage, uintptr(len(x))*4
	if end < start+hugePage {
		return
	}
	whole := unsafe.Slice((*byte)(unsafe.Add(first, start)), (end-start)/hugePage*hugePage)
	syscall.Madvise(whole, syscall.MADV_HUGEPAGE) // an error means that it has none
}
