// Package safetensors reads and writes safetensors files, the one format of
// tfm's models and checkpoints, and writes files of any kind atomically.
//
// # Format
//
// From the README of github.com/huggingface/safetensors; what that page leaves
// open is decided as the security audit of that library asks.
//
//	8 bytes   N, the length of the header, unsigned little-endian, at most 100,000,000
//	N bytes   the header: a JSON object in UTF-8, padded at its end with spaces
//	the rest  the tensors' elements, row-major and little-endian
//
// The header maps each tensor's name to
//
//	{"dtype":"F32","shape":[512,2048],"data_offsets":[begin,end]}
//
// with offsets in bytes from the end of the header. The tensors fill the rest
// of the file from 0 to its last byte without holes or overlaps, so nothing
// can hide between or behind them. The name __metadata__ is reserved for an
// object whose values are all strings. No key may appear twice. A shape of []
// is a scalar, and a dimension of 0 makes an empty tensor; both are legal.
//
// [Write] decides what the format leaves free: tensors have the order given,
// metadata is sorted by key, equal input gives equal bytes, and padding lets
// the data start at a multiple of 64 bytes. Offsets follow from the sizes of
// the tensors before, so F32 tensors that come before U8 tensors of odd length
// are aligned for readers that map them.
//
// # Checksum
//
// The metadata key "checksum" holds "crc32c:" and eight upper-case hexadecimal
// digits: the CRC-32C (Castagnoli) of the data, followed by the first 8+N bytes
// of the file with those eight digits set to '0'. Data first, so that a writer
// with the tensors in memory knows the value before it writes a byte. Every
// byte of the file takes part; [File.Verify] recomputes it. A file whose key
// itself was damaged looks like one without a checksum, so whoever reads only
// what [Write] wrote treats [ErrNoChecksum] as damage too.
//
// # Hostile files
//
// [Open] accepts files from anywhere. It compares every length with the size
// of the file before it uses it, and allocates at most 32 bytes for each byte
// of the header. Strings must be valid Unicode: half a surrogate pair is an
// error, not U+FFFD.
//
// # Files
//
//	file.go      File: an open file
//	header.go    the header and its checks; json.go the parser of its JSON
//	tensor.go    Tensor, its sizes, and its elements as float32
//	checksum.go  the checksum
//	write.go     writing a safetensors file
//	map_unix.go  mapping a file into memory; map_other.go reading it instead
//	atomic.go    WriteAtomic, for files of any kind; atomic_unix.go and
//	             atomic_other.go the parts that depend on the system
//
// The package imports the standard library only.
package safetensors
