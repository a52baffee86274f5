// Package bench is the work that benchmarks of whole programs measure, and what they say about it: what `tfm bench` prints
// and what `go test -bench Step` repeats.
//
// The report of it all is in report.go and its tables in text.go, the machine's limits in machine.go, matrix products in products.go, training steps
// in training.go and the lengths of their sentences in lengths.go, decoding in decoding.go; figure.go has the median of
// several rounds, memory.go the peak memory of the process.
package bench
