// Package record writes the events of a training to files: log.jsonl (log.go) and event files for
// TensorBoard (board.go). It imports package train and the packages of the two formats.
package record
