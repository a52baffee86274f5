package main

import (
	"math"
	"testing"

	"tfm/model"
)

// The presets have the parameter counts of the paper's Table 3, of those rows that have one, within
// 1 %. The paper has "about 37000" pieces, section 5.1. big is closest with 37,000, and the others,
// which the paper gives in whole millions too, with 41,000.
func TestTable3(t *testing.T) {
	for preset, millions := range map[string]float64{"base": 65, "B1": 58, "B2": 60, "C1": 36, "C2": 50, "C3": 80, "C4": 28, "C5": 168, "C6": 53, "C7": 90, "big": 213} {
		c, err := model.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		c.SrcVocab, c.TgtVocab = 41000, 41000
		if preset == "big" {
			c.SrcVocab, c.TgtVocab = 37000, 37000
		}
		if d := float64(c.CountParams())/(1e6*millions) - 1; math.Abs(d) > 0.01 {
			t.Errorf("%s with %d pieces differs by %.1f%%", preset, c.SrcVocab, 100*d)
		}
	}
}
