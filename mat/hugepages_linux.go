package mat

import (
	"syscall"
	"unsafe"
)

// useHugePages asks for huge pages for the part of x that consists of whole ones, because products
// read rows on many pages. The system may decline.
func useHugePages(x []float32) {
	const page = 2 << 20 // bytes
	if len(x)*size < 2*page {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size)
	address := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	lo := int(-address & (page - 1))
	hi := len(b) - int((address+uintptr(len(b)))&(page-1))
	_ = syscall.Madvise(b[lo:hi], syscall.MADV_HUGEPAGE)
}
