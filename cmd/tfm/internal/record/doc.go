// Package record writes what a training reports to files as it goes: its log (log.go) and event
// files for TensorBoard (board.go). It imports package train and those of the two formats.
package record
