//go:build (amd64 || arm64) && !purego && !noasm

package mat

import "unsafe"

// tileInt8 is the argument of the kernels that compute a tile: m rows and the 32 columns of a
// panel. One or more calls of dot compute the sums,
//
//	for i := range m {
//		for j := range 32 {
//			if start != nil {
//				sums[i*32+j] = start[j]
//			}
//			for l := range groups * 4 {
//				sums[i*32+j] += a[i*aRow+l] * b[l/4*128+j*4+l%4]
//			}
//		}
//	}
//
// and the last one, with last != 0, then converts them, rounding each operation:
//
//	for i := range m {
//		for j := range 32 {
//			x := float32(sums[i*32+j]) * colScales[j] * rowScales[i]
//			if accumulate != 0 {
//				x += c[i*cRow+j]
//			}
//			if bias != nil {
//				x += bias[j]
//			}
//			if relu != 0 && x < 0 {
//				x = 0
//			}
//			c[i*cRow+j] = x
//		}
//	}
//
// The last call need not store the sums. Strides count bytes. With VNNI dot prefetches, for each
// group, the cache lines at ahead + group*aheadGroup and after it.
type tileInt8 struct {
	a, b                       *int8
	aRow                       uintptr
	m, groups                  int
	sums, start                *int32
	c                          *float32
	cRow                       uintptr
	rowScales, colScales, bias *float32
	ahead, aheadGroup          uintptr
	accumulate, relu, last     int
}

const (
	maxTileRowsInt8 = 12
	depthInt8       = 1024 // groups of one call, a few microseconds
	aheadInt8       = 4096 // bytes from a group to the one that is prefetched with it
)

var zeroStart [panelInt8]int32

// block computes rows [i0, i1) and columns [j0, j1) of C; j0 is the first column of a panel.
func (t *productInt8) block(i0, i1, j0, j1 int) {
	if kernel == generic {
		t.blockGeneric(i0, i1, j0, j1)
		return
	}
	w := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(w)
	w.sums, w.edge = resized(w.sums, maxTileRowsInt8*panelInt8), resized(w.edge, (maxTileRowsInt8+1)*panelInt8)

	x := tileInt8{aRow: uintptr(t.stride), sums: &w.sums[0], accumulate: flag(t.o.Accumulate), relu: flag(t.o.Activation == ReLU)}
	rows, depth := divideRows(i1-i0, int8Kernel().rows), depthInt8
	if t.form == wide && rows.strips == 1 {
		depth = 128 // dotAVX2 reads B four times: from memory, then from the first-level cache
	}
	for j := j0; j < j1; j += panelInt8 {
		n := min(panelInt8, j1-j)
		x.colScales = &t.b.scales[j]
		start := &zeroStart[0]
		if t.form == shifted {
			start = &t.b.start[j]
		}
		if x.bias = nil; t.o.Bias != nil {
			x.bias = &t.o.Bias[j]
			if n < panelInt8 {
				bias := w.edge[maxTileRowsInt8*panelInt8:]
				copy(bias, t.o.Bias[j:])
				x.bias = &bias[0]
			}
		}
		// Strips share the next panel, so that memory is read evenly. A single one
		// prefetches the rest of its own.
		next, share := t.addressOf(j)+aheadInt8, bytesInt8
		if rows.strips > 1 {
			next, share = t.addressOf(min(j+panelInt8, j1-1)), ceilDiv(bytesInt8, rows.strips)
		}
		for i, strip := i0, 0; strip < rows.strips; strip++ {
			x.m = rows.rows(strip)
			x.c, x.cRow = &t.c.Data[i*t.c.RowStride+j], uintptr(t.c.RowStride)*size
			if n < panelInt8 { // a copy with all columns
				x.c, x.cRow = &w.edge[0], panelInt8*size
				for r := 0; r < x.m && t.o.Accumulate; r++ {
					copy(w.edge[r*panelInt8:][:n], t.c.Data[(i+r)*t.c.RowStride+j:])
				}
			}
			x.start, x.rowScales = start, &t.scales[i]
			for l := 0; l < t.b.groups; l += depth {
				x.a = &t.q[i*t.stride+l*groupInt8*t.form.width()]
				x.b = &t.b.packed[t.b.at(j)+l*bytesInt8]
				x.groups = min(depth, t.b.groups-l)
				x.ahead, x.aheadGroup = next+uintptr((strip*t.b.groups+l)*share), uintptr(share)
				x.last = flag(l+x.groups == t.b.groups)
				x.dot()
				x.start = nil
			}
			for r := 0; r < x.m && n < panelInt8; r++ {
				copy(t.c.Data[(i+r)*t.c.RowStride+j:], w.edge[r*panelInt8:][:n])
			}
			i += x.m
		}
	}
	t.o.finish(t.c, i0, i1, j0, j1)
}

// addressOf returns the address of the panel of column j for prefetching, which never faults.
func (t *productInt8) addressOf(j int) uintptr {
	return uintptr(unsafe.Pointer(&t.b.packed[t.b.at(j)]))
}

// ones are 1 as activations, in bytes and in 16-bit integers.
var ones, wideOnes = func() (bytes, wide [depthInt8 * groupInt8 * 2]int8) {
	for i := range bytes {
		bytes[i] = 1
		if i%2 == 0 {
			wide[i] = 1
		}
	}
	return bytes, wide
}()

// sumGroups sets sums [32] to the sums of the columns of a panel: the product of a row of ones.
func sumGroups(sums []int32, panel []int8) {
	if kernel == generic {
		sumGroupsGeneric(sums, panel)
		return
	}
	x := tileInt8{a: &ones[0], m: 1, sums: &sums[0], start: &zeroStart[0]}
	if int8Kernel().form == wide {
		x.a = &wideOnes[0]
	}
	for ; len(panel) > 0; panel = panel[x.groups*bytesInt8:] {
		x.b, x.groups = &panel[0], min(depthInt8, len(panel)/bytesInt8)
		x.dot()
		x.start = nil
	}
}
