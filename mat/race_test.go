//go:build race

package mat

const race = true
