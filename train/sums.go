package train

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"tfm/layer"
)

// keySums is the metadata key of the checksums of a file of a round: of the weights and of each
// moment, by name, behind the other metadata of the training. Parts of such files are read by many
// machines, and the checksum of the file would make them read all of it.
const keySums = "train.sums"

const nameOfWeights = "weights"

// sumOf returns the checksum of values of a file with the metadata in info, with its name.
func sumOf(info map[string]string, name string, values []float32) string {
	text := crc32.Update(0, castagnoli, []byte(info[keyOptions]+info[keyState]))
	return fmt.Sprintf("%s=%08x", name, addSum(text, values))
}

// sumsOf returns the checksums of weights and moments.
func sumsOf(info map[string]string, weights []float32, moments []Moment) string {
	sums := sumOf(info, nameOfWeights, weights)
	for _, m := range moments {
		sums += " " + sumOf(info, m.Name, m.Values)
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

// partWeights copies the weights of a file of a round to p.W, and verifies them.
func (c *Checkpoint) partWeights(p *layer.Params) error {
	if err := c.Weights(p); err != nil {
		return err
	}
	return c.verifySum(nameOfWeights, p.W)
}

// partMoments copies moments of a file of a round, and verifies them.
func (c *Checkpoint) partMoments(p *layer.Params, moments []Moment) error {
	for _, m := range moments {
		if err := c.copyTo(m.params(p.List), m.Name, m.Values); err != nil {
			return err
		}
		if err := c.verifySum(m.Name, m.Values); err != nil {
			return err
		}
	}
	return nil
}

// verifySum compares a checksum of the file with that of values.
func (c *Checkpoint) verifySum(name string, values []float32) error {
	meta := c.file.Metadata()
	if sum := sumOf(meta, name, values); !slices.Contains(strings.Fields(meta[keySums]), sum) {
		return fmt.Errorf("%s: found %s, expected a checksum in %q of the header: the file was damaged or altered", c.Path, sum, meta[keySums])
	}
	return nil
}
