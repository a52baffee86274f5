//go:build race

package model

// raceDetector: sync.Pool drops items at random under the race detector, so tests cannot count
// allocations.
const raceDetector = true
