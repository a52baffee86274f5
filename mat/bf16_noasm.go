//go:build (!amd64 && !arm64) || purego || noasm

package mat

func kernelBF16() arithmetic { return portableBF16 }

func (t *product) multiplyBF16(*Pool, arithmetic) {}

func bf16Loop(n int) float64 { return fmaLoop(n) }
