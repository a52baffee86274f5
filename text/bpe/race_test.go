//go:build race

package bpe

const raceDetector = true // makes sync.Pool forget at random
