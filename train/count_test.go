package train

import (
	"math"
	"testing"
)

// The counts are those of the pairs that are not skipped, over all windows.
func TestTokenCounts(t *testing.T) {
	var p Pairs
	p.Add([]int32{3}, []int32{4, 5})
	p.Add([]int32{3, 3}, []int32{4})
	p.Add([]int32{3}, nil)
	p.Add([]int32{3, 3, 3, 3}, []int32{6})
	b, err := NewBatches(&p, 10, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var c tokenCounts
	c.add(b, 7)
	c.add(b, 7)
	if c.src != 10 || c.tgt != 10 {
		t.Errorf("%d source and %d target tokens, want 10 and 10", c.src, c.tgt)
	}
	// Of 10 tokens 4 are id 4, 2 id 5, 4 EOS.
	want := -(0.8*math.Log(0.4) + 0.2*math.Log(0.2))
	if got := c.entropy(); math.Abs(got-want) > 1e-12 {
		t.Errorf("entropy %v, want %v", got, want)
	}
}
