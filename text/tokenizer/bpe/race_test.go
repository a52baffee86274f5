//go:build race

package bpe

const raceDetector = true // under which sync.Pool drops items at random
