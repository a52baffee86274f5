// Package bench is the work that benchmarks of whole programs measure: what `tfm bench` prints and
// what `go test -bench Step` repeats. It imports train, model, model/decode and mat, and nothing
// but cmd/tfm and tests imports it.
//
//	report.go    Report: everything measured; text.go prints its tables
//	machine.go   the machine and its limits
//	products.go  matrix products
//	training.go  training steps; lengths.go has the lengths of their sentences
//	decoding.go  translation
//	figure.go    the median of several rounds
//	memory.go    the peak memory of the process
package bench
