//go:build !amd64 || purego || noasm

package mat

func kernelBF16() arithmetic { return portableBF16 }

func (t *product) multiplyPairsBF16(*Pool) {}

func (t *product) multiplyTilesBF16(*Pool) {}

func bf16Loop(n int) float64 { return fmaLoop(n) }
