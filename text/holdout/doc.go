// Package holdout sets validation and test pairs of a corpus apart. It reads pairs as streams, in
// bounded memory, and depends on no language. It imports the standard library and text packages.
//
//	holdout.go     Divide: validation and test pairs, and the other pairs without similar ones
//	validation.go  ValidationSet: validation pairs without near-duplicates among the other pairs
//	similar.go     sentences that resemble each other
//	draw.go        pairs at random
//
// # Terms
//
//   - near-duplicates: pairs with the same source or target up to case, punctuation, white space
//     and the values of numbers
//   - shingle: two consecutive words
package holdout
