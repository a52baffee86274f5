//go:build !race

package grammar

const raceDetector = false
