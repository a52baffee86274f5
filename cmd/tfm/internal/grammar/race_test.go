//go:build race

package grammar

const raceDetector = true
