package mat

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// A large matrix is in memory with the flag "hg" of madvise.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("optional: a kernel with huge pages")
	}
	m := New(2<<10, 2<<10)
	middle := uint64(uintptr(unsafe.Pointer(&m.Data[len(m.Data)/2])))
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip("optional: /proc: ", err)
	}
	defer f.Close()
	found := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			found = lo <= middle && middle < hi
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && found {
			switch fields := strings.Fields(flags); {
			case slices.Contains(fields, "hg"):
			case runtime.GOARCH != "amd64":
				t.Skip("emulation: possibly without madvise; flags of the memory:", flags)
			default:
				t.Errorf("flags of the memory of a matrix of 16 MB:%s, want hg", flags)
			}
			return
		}
	}
	t.Skip("optional: flags of memory in /proc/self/smaps")
}
