package mat

// A cpuidLeaf describes one cache of the processor, as returned by leaf 4 on Intel and leaf
// 0x8000001D on AMD ("Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2;
// "AMD64 Architecture Programmer's Manual", volume 3, appendix E).
type cpuidLeaf struct{ eax, ebx, ecx uint32 }

// cachesOf returns the cache sizes that the leaves describe, with the defaults for missing or
// implausible ones. An L2 cache shared by several cores is divided among them.
func cachesOf(leaves []cpuidLeaf) cacheSizes {
	c := defaultCaches
	for _, l := range leaves {
		const data, unified = 1, 3
		kind, level, threads := l.eax&31, l.eax>>5&7, int(l.eax>>14&0xFFF)+1
		ways, sets := int(l.ebx>>22)+1, int(l.ecx)+1
		wayBytes := (int(l.ebx>>12&0x3FF) + 1) * (int(l.ebx&0xFFF) + 1) * sets
		bytes := wayBytes * ways
		switch {
		case kind == data && level == 1 && 8<<10 <= bytes && bytes <= 1<<20:
			c.l1, c.l1Way = bytes, wayBytes
		case kind == unified && level == 2 && 128<<10 <= bytes && bytes <= 64<<20:
			c.l2 = bytes / max(1, threads/2) // the two threads of a core share its part
		case kind == unified && level == 3 && 1<<20 <= bytes && bytes <= 1<<30:
			c.l3 = bytes
		}
	}
	return c
}
