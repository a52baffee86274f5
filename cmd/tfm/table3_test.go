package main

import (
	"math"
	"testing"

	"tfm/model"
)

// What the note below the table says.
func TestTable3Differences(t *testing.T) {
	for _, row := range table3 {
		c, err := model.Preset(row.preset)
		if err != nil {
			t.Fatal(err)
		}
		c.SrcVocab, c.TgtVocab = 41000, 41000
		if row.preset == "big" {
			c.SrcVocab, c.TgtVocab = paperVocab, paperVocab
		}
		if d := difference(c.CountParams(), row.millions); row.millions > 0 && math.Abs(d) > 0.01 {
			t.Errorf("%s with %d pieces differs by %.1f%%", row.preset, c.SrcVocab, 100*d)
		}
	}
}
