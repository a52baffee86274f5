//go:build !amd64 || purego || noasm

package mat

// eachBF16 calls f for each way to multiply numbers in bfloat16 that the machine has.
func eachBF16(f func(name string)) {
	defer func(k isa) { kernel = k }(kernel)
	for _, kernel = range supported {
		f(KernelBF16())
	}
}
