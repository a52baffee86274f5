//go:build race

package text

const raceDetector = true // makes sync.Pool forget at random
