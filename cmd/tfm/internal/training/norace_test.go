//go:build !race

package training

const raceDetector = false
