//go:build !purego && !noasm

package mat

// caches returns the cache sizes of this processor.
func caches() cacheSizes { return cachesOf(cpuidLeaves()) }

// cpuidLeaves returns the processor's descriptions of its caches: AMD's leaf if it is present,
// otherwise Intel's.
func cpuidLeaves() []cpuidLeaf {
	const basic, extended, intelCaches, amdCaches = 0, 0x80000000, 4, 0x8000001D
	for _, x := range []struct{ first, leaf uint32 }{{extended, amdCaches}, {basic, intelCaches}} {
		if maxLeaf, _, _, _ := cpuid(x.first, 0); maxLeaf < x.leaf {
			continue
		}
		var leaves []cpuidLeaf
		for i := range uint32(16) {
			eax, ebx, ecx, _ := cpuid(x.leaf, i)
			if eax&31 == 0 { // no more caches
				break
			}
			leaves = append(leaves, cpuidLeaf{eax, ebx, ecx})
		}
		if leaves != nil {
			return leaves
		}
	}
	return nil
}

// cpuid executes CPUID with EAX = leaf and ECX = index.
func cpuid(leaf, index uint32) (eax, ebx, ecx, edx uint32)
