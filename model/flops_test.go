package model

import (
	"strings"
	"testing"
)

// TrainFLOPs equals a count by parameter: each weight is multiplied once with each token of its
// input.
func TestTrainFLOPs(t *testing.T) {
	testTrainFLOPs(t, toy())
	c := toy()
	c.DK, c.DV = 3, 9
	testTrainFLOPs(t, c)
}

func testTrainFLOPs(t *testing.T, c Config) {
	c.SrcVocab, c.TgtVocab, c.Tie, c.EncoderLayers, c.DecoderLayers = 13, 17, TieNone, 3, 2
	var b Batch
	b.Append(make([]int32, 4), make([]int32, 6)) // 5 and 7 with EOS and BOS
	b.Append(make([]int32, 1), make([]int32, 2)) // 2 and 3
	const m, n = 5 + 2, 7 + 3
	macs := 0
	for _, p := range declare(c).Params.List {
		switch {
		case !strings.HasSuffix(p.Name, ".weight"):
		case strings.HasPrefix(p.Name, "encoder."), strings.HasSuffix(p.Name, ".kv.weight"):
			macs += m * p.Size()
		default:
			macs += n * p.Size()
		}
	}
	// A pair of a query and a key needs h·d_k for its score and h·d_v for its term of the
	// output.
	dk, dv := c.HeadSizes()
	pair := c.Heads * (dk + dv)
	macs += 3*pair*(5*5+2*2) + 2*pair*(7*8/2+3*4/2) + 2*pair*(5*7+2*3)
	if got, want := c.TrainFLOPs(&b), float64(6*macs); got != want {
		t.Errorf("TrainFLOPs = %v, want %v", got, want)
	}
}
