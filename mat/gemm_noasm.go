//go:build (!amd64 && !arm64) || purego || noasm

package mat

func (t *product) block(i0, i1, j0, j1 int) { t.blockGeneric(i0, i1, j0, j1) }

func (*GemmOptions) small(p *Pool, c, a, b *Matrix, panels []float32) bool { return false }

func fmaLoop(n int) float64 { return fmaLoopGeneric(n) }

func pack(*Pool, *tile, []float32, Matrix) { panic(noAsm) }

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	panic(noAsm)
}
