//go:build !amd64 || purego || noasm

package mat

// eachBF16 calls f for each way to multiply in bfloat16 that the machine supports: portable Go.
func eachBF16(f func(name string)) {
	defer func(k isa) { kernel = k }(kernel)
	kernel = tested[len(tested)-1]
	f("generic")
}
