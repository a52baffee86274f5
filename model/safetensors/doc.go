// Package safetensors reads and writes safetensors files, the format of tfm's
// models and checkpoints. It also writes files of any format atomically.
//
// # Format
//
// The format is that of the README of github.com/huggingface/safetensors. Where
// the README leaves a choice, the package follows the security audit of that
// library.
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
// of the file from 0 to its last byte without holes or overlaps, so the file
// cannot contain other data. The name __metadata__ is reserved for an
// object whose values are all strings. No key may appear twice. A shape of []
// is a scalar, and a dimension of 0 makes an empty tensor; both are legal.
//
// [Write] keeps the order of the tensors, sorts metadata by key, and pads the
// header so that the data starts at a multiple of 64 bytes. Equal input gives
// equal bytes. There is no padding between tensors: F32 tensors are aligned for
// readers that map them if they come before U8 tensors of odd length.
//
// # Checksum
//
// The metadata key "checksum" holds "crc32c:" and eight upper-case hexadecimal
// digits: the CRC-32C (Castagnoli) of the data, followed by the first 8+N bytes
// of the file with those eight digits set to '0'. The data comes first so that a
// writer can compute the checksum before it writes the header. The checksum
// covers every byte of the file; [File.Verify] recomputes it. Damage to the key
// itself makes a file look like one without a checksum, so a program that reads
// only files from [Write] must treat [ErrNoChecksum] as damage too.
//
// # Hostile files
//
// [Open] is safe on untrusted files. It compares every length with the size of
// the file before it uses it, and allocates at most 34 bytes for each byte of
// the header. Strings must be valid Unicode: half of a surrogate pair is an
// error, not U+FFFD.
//
// # Files
//
//	file.go      File: an open file, read by ranges or mapped
//	header.go    the header and its checks; json.go the values of its JSON
//	tensor.go    Tensor, its sizes, and its elements as float32
//	checksum.go  the checksum
//	write.go     writing a safetensors file
//	map_unix.go  mapping a file into memory; map_other.go reading it instead
//	atomic.go    WriteAtomic, for files of any kind; atomic_unix.go and
//	             atomic_other.go its system calls
//
// # Terms
//
//   - header: the JSON object that describes the tensors
//   - metadata: the strings under the key __metadata__ of the header
//   - dtype: the type of a tensor's elements, by its name in the format
//   - data: the bytes of all tensors, after the header
//   - prefix: the header length and the header
//   - checksum: the CRC-32C in the metadata that covers the whole file
//   - stale file: a temporary file that a killed process left behind
//
// The package imports the standard library only.
package safetensors
