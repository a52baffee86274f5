//go:build (!amd64 && !arm64) || purego || noasm

package mat

func (t *product) block(i0, i1, j0, j1 int) { t.blockGeneric(i0, i1, j0, j1) }

func fmaLoop(n int) float64 { return fmaLoopGeneric(n) }

func pack(*Pool, []float32, Matrix) []float32 { panic(noAsm) }
