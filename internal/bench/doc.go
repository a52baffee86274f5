// Package bench measures training and decoding for `tfm bench` and `go test -bench Step`. It
// imports train, model, model/decode and mat; only cmd/tfm and tests import it.
//
//	report.go    Report, the results of all benchmarks; text.go prints its tables
//	machine.go   the machine and its limits
//	training.go  training steps; lengths.go: sentence lengths of their batches
//	decoding.go  translation
//	figure.go    median, minimum and maximum of several rounds
//	memory.go    the peak memory of the process
package bench
