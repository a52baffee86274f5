package mat

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// A large matrix is in memory with the flag "hg" of madvise.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("kernel without huge pages")
	}
	m := New(2<<10, 2<<10)
	middle := uint64(uintptr(unsafe.Pointer(&m.Data[len(m.Data)/2])))
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	found := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			found = lo <= middle && middle < hi
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && found {
			if !slices.Contains(strings.Fields(flags), "hg") {
				t.Errorf("flags of the memory of a matrix of 16 MB:%s, want hg", flags)
			}
			return
		}
	}
	t.Skip("no flags of memory in /proc/self/smaps")
}
