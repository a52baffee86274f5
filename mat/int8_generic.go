package mat

import "math"

// The kernels of int8 in plain Go, with the same bits.

var genericInt8 = kernelInt8{"generic", signed, 1}

func maxAbsGeneric(x []float32) uint32 {
	var top uint32
	for _, v := range x {
		top = max(top, math.Float32bits(v)&^(1<<31))
	}
	return top
}

// quantizeGeneric supports signed bytes only.
func (formInt8) quantizeGeneric(q []int8, x []float32, r float32) {
	const magic = 0x1.8p23 // adding it rounds to an integer, which is in the lowest bits of the sum
	for j, v := range x {
		q[j] = int8(math.Float32bits(float32(v*r) + magic))
	}
}

// blockGeneric computes rows [i0, i1) and columns [j0, j1) of C; j0 is the first column of a panel.
func (t *productInt8) blockGeneric(i0, i1, j0, j1 int) {
	for j := j0; j < j1; j += panelInt8 {
		panel := t.b.packed[t.b.at(j):][:t.b.groups*bytesInt8]
		for i := i0; i < i1; i++ {
			var sums [panelInt8]int32
			a := t.q[i*t.stride:]
			for w := panel; len(w) > 0; a, w = a[groupInt8:], w[bytesInt8:] {
				a0, a1, a2, a3 := int32(a[0]), int32(a[1]), int32(a[2]), int32(a[3])
				g := (*[bytesInt8]int8)(w)
				for n := range sums {
					sums[n] += a0*int32(g[4*n]) + a1*int32(g[4*n+1]) + a2*int32(g[4*n+2]) + a3*int32(g[4*n+3])
				}
			}
			row := t.c.Data[i*t.c.RowStride:][j:min(j+panelInt8, j1)]
			for n := range row {
				x := float32(float32(float32(sums[n])*t.b.scales[j+n]) * t.scales[i])
				if t.o.Accumulate {
					x += row[n]
				}
				row[n] = x
			}
		}
	}
	t.o.finishChain(t.c, i0, i1, j0, j1)
}

// sumGroupsGeneric sets sums [32] to the sums of the columns of a panel.
func sumGroupsGeneric(sums []int32, panel []int8) {
	clear(sums)
	for ; len(panel) > 0; panel = panel[bytesInt8:] {
		for j := range sums {
			g := panel[groupInt8*j:][:groupInt8]
			sums[j] += int32(g[0]) + int32(g[1]) + int32(g[2]) + int32(g[3])
		}
	}
}
