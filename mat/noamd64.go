//go:build !amd64 || purego || noasm

package mat

// What only amd64 has.

// caches returns the defaults, because the sizes are unknown here.
func caches() cacheSizes { return defaultCaches }

var (
	stripAVX512, stripFewAVX512, smallColumns, stripAVX2 func(*strip)
	columnsAVX512, columnsAVX2                           func(*columnsArgs)
	rowAVX2                                              func(*rowArgs)
)

// Without kernels for many rows the caller processes row by row.

func softmaxRows(y, x Matrix, first int, scale float32) bool { return false }

func softmaxGradRows(dx, p, dp Matrix, scale float32) bool { return false }

func addRowsAsm(sum []float32, m Matrix) int { return 0 }

func layerNormRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) bool { return false }

func layerNormParamGradRowsAsm(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) int {
	return 0
}

func kernelBF16() arithmetic { return portableBF16 }

func (t *product) multiplyPairsBF16(*Pool) {}

func (t *product) multiplyTilesBF16(*Pool) {}

func bf16Loop(n int) float64 { return fmaLoop(n) }
