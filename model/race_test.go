//go:build race

package model

// raceDetector is on: sync.Pool then forgets on purpose, so allocations cannot be counted.
const raceDetector = true
