//go:build !race

package sentencepiece

const raceEnabled = false
