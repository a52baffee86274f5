package train

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"tfm/layer"
)

// keySums is the metadata key of the checksums of a file of a round: of the weights, and of the
// moments, each after the other metadata of the training. Parts of such files are read by many
// machines, and the checksum of the file would make them read all of it.
const keySums = "train.sums"

// sumsOf returns the checksums of weights and moments with the metadata in info.
func sumsOf(info map[string]string, weights []float32, moments []Moment) string {
	text := crc32.Update(0, castagnoli, []byte(info[keyOptions]+info[keyState]))
	sum := text
	for _, m := range moments {
		sum = addSum(sum, m.Values)
	}
	return fmt.Sprintf("%08x %08x", addSum(text, weights), sum)
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
	return c.verifySum("weights", 0, sumsOf(c.file.Metadata(), p.W, nil))
}

// partMoments sets an optimizer to the moments of a file of a round, as resume does, and verifies
// them.
func (c *Checkpoint) partMoments(p *layer.Params, o Optimizer) error {
	if err := c.resume(p, o); err != nil {
		return err
	}
	return c.verifySum("moments", 1, sumsOf(c.file.Metadata(), nil, o.Moments()))
}

// verifySum compares one of the sums of the file.
func (c *Checkpoint) verifySum(what string, i int, found string) error {
	var sums, expected [2]string
	fmt.Sscan(found, &sums[0], &sums[1])
	fmt.Sscan(c.file.Metadata()[keySums], &expected[0], &expected[1])
	if sums[i] != expected[i] {
		return fmt.Errorf("%s: the %s have checksum %s, expected %q as in the header: the file was damaged or altered", c.Path, what, sums[i], expected[i])
	}
	return nil
}
