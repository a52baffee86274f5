// Package shard makes a translation a piece of work for engines that run many: the same bytes on
// any machine at any attempt, an output that is whole or not there, and a record of it by which a
// further attempt finds that nothing is left to do.
//
//	shard.go   Shard: reading its inputs, writing its output
//	flags.go   its flags
//	record.go  the record OUT.done, and whether it fits
//	part.go    one of N parts of a file, cut at line ends
package shard
