package mat

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page of amd64, and of arm64 with pages of 4 KB, in bytes.
const hugePage = 2 << 20

// HugePages asks the system for huge pages for the part of x that consists of whole ones, which
// saves entries of the TLB when products read many rows. The system may decline; other systems than
// Linux are not asked. [New] does so itself.
func HugePages(x []float32) {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	lo := -address % hugePage
	if n := uintptr(len(x)) * size; n >= lo+hugePage {
		whole := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(x)), lo)), (n-lo)/hugePage*hugePage)
		_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE)
	}
}
