//go:build (amd64 || arm64) && !purego && !noasm

package mat

// The functions of vec_amd64.s and vec_arm64.s, each with its definition in Go, for 0 ≤ n ≤ run.
// They check nothing; the exported functions do.

// sumAsm is
//
//	var s lanes
//	for j := range n {
//		s[j%16] += x[j]
//	}
//	return s.sum()
//
//go:noescape
func sumAsm(x *float32, n int) float32

// dotAsm is
//
//	var s lanes
//	for j := range n {
//		s[j%16] = fma(x[j], y[j], s[j%16])
//	}
//	return s.sum()
//
//go:noescape
func dotAsm(x, y *float32, n int) float32

// sumSquaredDiffAsm is
//
//	var s lanes
//	for j := range n {
//		d := x[j] - mean
//		s[j%16] = fma(d, d, s[j%16])
//	}
//	return s.sum()
//
//go:noescape
func sumSquaredDiffAsm(x *float32, n int, mean float32) float32

// maxAsm is
//
//	m := -Inf
//	for j := range n {
//		m = max(m, x[j]) // NaN if one is
//	}
//	return m + 0
//
//go:noescape
func maxAsm(x *float32, n int) float32

// addAsm is
//
//	for j := range n {
//		y[j] += x[j]
//	}
//
//go:noescape
func addAsm(y, x *float32, n int)

// axpyAsm is
//
//	for j := range n {
//		y[j] = fma(a, x[j], y[j])
//	}
//
//go:noescape
func axpyAsm(y, x *float32, n int, a float32)

// scalAsm is
//
//	for j := range n {
//		x[j] *= a
//	}
//
//go:noescape
func scalAsm(x *float32, n int, a float32)

// scaleShiftAsm is
//
//	for j := range n {
//		y[j] = fma(y[j], a, b)
//	}
//
//go:noescape
func scaleShiftAsm(y *float32, n int, a, b float32)

// axpyToAsm is
//
//	for j := range n {
//		dst[j] = fma(a, x[j], y[j])
//	}
//
//go:noescape
func axpyToAsm(dst, x, y *float32, n int, a float32)
