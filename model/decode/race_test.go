//go:build race

package decode

// raceDetector is on: sync.Pool then forgets on purpose, so allocations cannot be counted.
const raceDetector = true
