package bpe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
)

// slowDropout is algorithm 1 of the paper: each step draws for every candidate, then applies the
// first of those that are kept.
func slowDropout(b *Tokenizer, word string, p float64, r *rand.Rand) []int32 {
	var ids []int32
	for _, c := range []byte(word) {
		ids = append(ids, firstByte+int32(c))
	}
	for {
		best, at := int32(math.MaxInt32), 0
		for i := range len(ids) - 1 {
			if m, ok := b.table.Find(ids[i], ids[i+1]); ok && r.Float64() >= p {
				if m.ID < best {
					best, at = m.ID, i
				}
			}
		}
		if best == math.MaxInt32 {
			return ids
		}
		ids[at] = best
		ids = slices.Delete(ids, at+1, at+2)
	}
}

// Encodings have the frequencies of the paper's algorithm.
func TestDropoutEqualsOracle(t *testing.T) {
	b := train(t, firstMerge+8, "aaab aaab abab abab abaab abaab", "aab aab aaab")
	const n = 20000
	for _, word := range []string{"abaab", "aaab", "ababab"} {
		for _, p := range []float64{0.1, 0.5, 0.9} {
			fast, slow := map[string]int{}, map[string]int{}
			pcg, r := rand.NewPCG(1, 2), rand.New(rand.NewPCG(3, 4))
			for range n {
				fast[fmt.Sprint(b.EncodeSample(nil, word, p, pcg))]++
				slow[fmt.Sprint(slowDropout(b, " "+word, p, r))]++
			}
			for outcome := range slow {
				fast[outcome] += 0
			}
			for outcome := range fast {
				// Two counts of expectation e differ by more than five times √(2e)
				// less than once in a million times.
				got, want := float64(fast[outcome]), float64(slow[outcome])
				if math.Abs(got-want) > 5*math.Sqrt(got+want+2) {
					t.Errorf("%s, p = %v: %s drawn %v times, want about %v", word, p, outcome, got, want)
				}
			}
		}
	}
}

func TestDropoutLimits(t *testing.T) {
	lines := texttest.Lines(300)
	b := train(t, 1000, lines...)
	r := rand.NewPCG(5, 6)
	state := *r
	for _, l := range lines {
		if got, want := b.EncodeSample([]int32{text.EOS}, l, 0, r), b.Encode([]int32{text.EOS}, l); !slices.Equal(got, want) {
			t.Fatalf("p = 0: ids of %q are %v, want %v", l, got, want)
		}
	}
	if *r != state {
		t.Error("p = 0 changes the state of random")
	}
	for _, l := range lines {
		got := b.EncodeSample(nil, l, 1, r)
		if len(got) != len(l)+1 || slices.Max(got) >= firstMerge {
			t.Fatalf("p = 1: ids of %q are %v, want its bytes", l, got)
		}
	}
	if got := b.EncodeSample(nil, "", 0.5, r); len(got) != 0 {
		t.Errorf("ids of an empty text are %v, want none", got)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("p = %v: no panic", p)
				}
			}()
			b.EncodeSample(nil, "a", p, r)
		}()
	}
}

// The ids do not depend on the contents of the cache, and are the recorded ones on every machine.
func TestDropoutIsDeterministic(t *testing.T) {
	lines := texttest.Lines(500)
	b := train(t, 1000, lines...)
	encode := func() (all []int32) {
		r := rand.NewPCG(7, 8)
		for _, l := range lines {
			all = b.EncodeSample(all, l, 0.1, r)
		}
		return all
	}
	want := encode()
	sum := uint64(0)
	for _, id := range want {
		sum = sum*1000003 + uint64(id)
	}
	if wantLen, wantSum := 12475, uint64(0x8829fdb5162a2fa1); len(want) != wantLen || sum != wantSum {
		t.Errorf("%d ids with checksum %#x, want %d with %#x", len(want), sum, wantLen, wantSum)
	}
	b.cache = merges.NewCache()
	if !slices.Equal(encode(), want) {
		t.Error("ids differ with an empty cache")
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if !slices.Equal(encode(), want) {
				t.Error("ids differ in concurrent calls")
			}
		}()
	}
	wait.Wait()
	if plain := b.Encode(nil, lines[0]); slices.Equal(plain, b.EncodeSample(nil, lines[0], 0.5, rand.NewPCG(1, 1))) {
		t.Error("p = 0.5: no merge is dropped")
	}
}
