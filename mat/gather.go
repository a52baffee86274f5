package mat

import (
	"fmt"
	"unsafe"
)

// Gather sets w to the columns of b that cols lists, on the threads of p. It reuses the memory of w
// if that is large enough. A product with w has the bits of these columns of a product with b. It
// panics if b does not have a column, or is w.
func (w *Packed) Gather(p *Pool, b *Packed, cols []int32) {
	checkGather("Packed", b.rows, b.cols, cols, w == b)
	l, from := LayoutOf(b.rows, len(cols)), LayoutOf(b.rows, b.cols)
	*w = Packed{b.rows, len(cols), resized(w.data, l.Panels*l.Depth*l.Cols)}
	if len(w.data) > 0 {
		Each(p, l.Panels, 1, gatherPanels[float32]{w.data, b.data, l, from, cols})
	}
}

// Gather sets w to the columns of b that cols lists, as Packed.Gather does.
func (w *Int8) Gather(p *Pool, b *Int8, cols []int32) {
	checkGather("Int8", b.rows, b.cols, cols, w == b)
	l := Layout{ceilDiv(len(cols), panelInt8), b.groups, panelInt8}
	n := l.Panels * panelInt8
	w.rows, w.cols, w.groups = b.rows, len(cols), b.groups
	w.packed = resized(w.packed, n*b.groups*groupInt8)
	w.scales, w.start = resized(w.scales, n), resized(w.start, n)
	for i, j := range cols {
		w.scales[i], w.start[i] = b.scales[j], b.start[j]
	}
	clear(w.scales[len(cols):])
	clear(w.start[len(cols):])
	if len(cols) > 0 {
		Each(p, l.Panels, 1, gatherPanels[groupOfInt8]{groupsOf(w.packed), groupsOf(b.packed), l, l, cols})
	}
}

func checkGather(name string, k, n int, cols []int32, same bool) {
	if same {
		panic(fmt.Sprintf("mat: Gather of %s %d × %d into itself", name, k, n))
	}
	for _, j := range cols {
		if uint(j) >= uint(n) {
			panic(fmt.Sprintf("mat: Gather of column %d of %s %d × %d", j, name, k, n))
		}
	}
}

// groupOfInt8 holds the elements of a group of rows in one column of an Int8.
type groupOfInt8 [groupInt8]int8

// groupsOf views packed weights as groups.
func groupsOf(packed []int8) []groupOfInt8 {
	return unsafe.Slice((*groupOfInt8)(unsafe.Pointer(unsafe.SliceData(packed))), len(packed)/groupInt8)
}

// gatherPanels is the parallel loop over the panels of to, in layout l, that copies columns of
// from, in a layout with the same depth.
type gatherPanels[T any] struct {
	to, from      []T
	l, fromLayout Layout
	cols          []int32
}

// Range copies panels [lo, hi). Row by row, the reads advance together through the panels of from:
// neighbouring columns share their cache lines.
func (t *gatherPanels[T]) Range(lo, hi int) {
	const width = 32 // columns that are copied together
	var columns [width][]T
	for ; lo < hi; lo++ {
		panel := t.to[lo*t.l.Depth*t.l.Cols:][:t.l.Depth*t.l.Cols]
		for c := 0; c < t.l.Cols; c += width {
			first := lo*t.l.Cols + c
			n := max(0, min(width, t.l.Cols-c, len(t.cols)-first))
			for i := range n {
				j := int(t.cols[first+i])
				columns[i] = t.from[j/t.fromLayout.Cols*t.fromLayout.Depth*t.fromLayout.Cols+j%t.fromLayout.Cols:]
			}
			for l := range t.l.Depth {
				row, at := panel[l*t.l.Cols+c:][:min(width, t.l.Cols-c)], l*t.fromLayout.Cols
				for i, column := range columns[:n] {
					row[i] = column[at]
				}
				clear(row[n:])
			}
		}
	}
}
