package train

import (
	"slices"
	"testing"
)

func TestPairs(t *testing.T) {
	p := &Pairs{}
	p.Add([]int32{3, 4}, []int32{5})
	p.Add(nil, []int32{6, 7, 8})
	p.Add([]int32{9}, nil)
	want := [][2][]int32{{{3, 4}, {5}}, {{}, {6, 7, 8}}, {{9}, {}}}
	if p.Len() != len(want) {
		t.Fatalf("%d pairs, want %d", p.Len(), len(want))
	}
	for i, w := range want {
		if !slices.Equal(p.Src(i), w[0]) || !slices.Equal(p.Tgt(i), w[1]) {
			t.Errorf("pair %d = %v, %v, want %v", i, p.Src(i), p.Tgt(i), w)
		}
	}
	if err := p.check("pairs", 10, 9); err != nil {
		t.Error(err)
	}
	wantError(t, p.check("pairs", 9, 9), "pairs, source of pair 2", "found id 9, expected 0 to 8")
	wantError(t, p.check("pairs", 10, 8), "pairs, target of pair 1", "found id 8, expected 0 to 7")
	p.Add([]int32{-1}, []int32{3})
	wantError(t, p.check("pairs", 10, 9), "pair 3", "found id -1")
}

// The fingerprint depends on the ids and on the division into sentences and pairs.
func TestFingerprint(t *testing.T) {
	corpus := func(sentences ...[]int32) *Pairs {
		p := &Pairs{}
		for i := 0; i < len(sentences); i += 2 {
			p.Add(sentences[i], sentences[i+1])
		}
		return p
	}
	a, b, c := []int32{3}, []int32{4}, []int32{3, 4}
	seen := map[string]int{}
	for i, p := range []*Pairs{corpus(), corpus(a, b), corpus(b, a), corpus(c, b), corpus(a, c), corpus(a, b, a, b)} {
		if other, ok := seen[p.fingerprint()]; ok {
			t.Errorf("corpora %d and %d have the same fingerprint", i, other)
		}
		seen[p.fingerprint()] = i
	}
	if corpus(a, b).fingerprint() != corpus([]int32{3}, []int32{4}).fingerprint() {
		t.Error("equal corpora have different fingerprints")
	}
}
