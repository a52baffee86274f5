package train

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// keySums is the metadata key of the checksums of a file of a round: of the weights and of each
// moment, by name, behind the other metadata of the training. Parts of such files are read by many
// machines, and the checksum of the file would make them read all of it.
const keySums = "train.sums"

const nameOfWeights = "weights"

// sumOf returns the checksum of text and values, behind a name.
func sumOf(text, name string, values []float32) string {
	sum := crc32.Update(0, castagnoli, []byte(text))
	return fmt.Sprintf("%s=%08x", name, addSum(sum, values))
}

// sumsOf returns the checksums of weights and moments of a file with options and state in text.
func sumsOf(text string, weights []float32, moments []Moment) string {
	sums := sumOf(text, nameOfWeights, weights)
	for _, m := range moments {
		sums += " " + sumOf(text, m.Name, m.Values)
	}
	return sums
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// addSum returns the CRC-32C of x, little-endian, behind bytes whose CRC is crc.
func addSum(crc uint32, x []float32) uint32 {
	var block [1 << 12]byte
	for len(x) > 0 {
		n := min(len(x), len(block)/4)
		for i, v := range x[:n] {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(v))
		}
		crc = crc32.Update(crc, castagnoli, block[:4*n])
		x = x[n:]
	}
	return crc
}
