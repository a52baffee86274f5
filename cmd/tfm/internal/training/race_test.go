//go:build race

package training

const raceDetector = true
