//go:build !amd64 || purego || noasm

package mat

// There are no kernels for many rows here: the caller processes row by row.

func softmaxRows(y, x Matrix, first int, scale float32) bool { return false }

func softmaxGradRows(dx, p, dp Matrix, scale float32) bool { return false }

func addRowsAsm(sum []float32, m Matrix) int { return 0 }

func layerNormRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) bool { return false }

func layerNormParamGradRowsAsm(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) int {
	return 0
}
