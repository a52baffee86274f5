//go:build !amd64 || purego || noasm

package mat

func (o *Product) small(c, a, b *Matrix) bool { return false }
