//go:build !amd64 || purego || noasm

package mat

func (o *GemmOptions) small(c, a, b *Matrix, panels []float32) bool { return false }
