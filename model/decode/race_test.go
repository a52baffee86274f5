//go:build race

package decode

// raceDetector: sync.Pool drops items at random under the race detector, so tests cannot count
// allocations.
const raceDetector = true
