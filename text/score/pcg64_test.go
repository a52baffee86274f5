package score

import (
	"fmt"
	"slices"
	"testing"
)

// The expected values are numpy 2.4.6's.
func TestPCG64(t *testing.T) {
	g := newPCG64(12345)
	for _, want := range []uint64{0x3a32b18db2ffc19d, 0x51171315c9e4c4de, 0xcc2024823444efd9} {
		if got := g.uint64(); got != want {
			t.Errorf("uint64 = %#x, want %#x", got, want)
		}
	}
	for seed, want := range map[uint64]uint64{0: 0xa30febcfd9c2825f, 1<<32 - 1: 0x407f5fa930d8fd9f, 1 << 32: 0xe3c5ebe285ac1625,
		987654321987: 0x809594ffb28579c7, 1<<64 - 1: 0xae163a7a8c47568f} {
		if got := newPCG64(seed).uint64(); got != want {
			t.Errorf("first uint64 of seed %d = %#x, want %#x", seed, got, want)
		}
	}
	got := make([]uint32, 20)
	newPCG64(12345).choose(got, 10)
	if want := []uint32{6, 2, 7, 3, 2, 7, 6, 6, 9, 3, 8, 3, 5, 5, 2, 1, 2, 6, 6, 9}; !slices.Equal(got, want) {
		t.Errorf("choose = %v, want %v", got, want)
	}
	g = newPCG64(7) // a limit that rejects three of ten draws
	large, one, four := make([]uint32, 100000), make([]uint32, 3), make([]uint32, 4)
	g.choose(large, 3_000_000_000)
	g.choose(one, 1)
	g.choose(four, 4)
	got = slices.Concat(large[len(large)-3:], one, four)
	if want := []uint32{1011917419, 2356708080, 2789084861, 0, 0, 0, 0, 2, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("last of choose(100000, 3e9), choose(3, 1), choose(4, 4) = %v, want %v", got, want)
	}
}

// Coins continue with unused bits, and leave the generator as numpy does.
func TestCoins(t *testing.T) {
	const want = "1011100110000011111111110100110110110001" + "1000110101001100010111000111101100100011"
	g := newPCG64(12345)
	for _, lengths := range [][]int{{80}, {40, 40}, {1, 31, 33, 15}} {
		*g = *newPCG64(12345)
		c, got := coins{from: g}, ""
		for _, n := range lengths {
			bits := []uint64{1<<64 - 1, 1<<64 - 1}
			c.flip(bits, n)
			for i := range n {
				got += fmt.Sprint(bits[i/64] >> (i % 64) & 1)
			}
		}
		if got != want {
			t.Errorf("%v coins = %s, want %s", lengths, got, want)
		}
		next := make([]uint32, 5)
		g.choose(next, 1000)
		if want := []uint32{316, 204, 797, 642, 676}; !slices.Equal(next, want) {
			t.Errorf("choose after %v coins = %v, want %v", lengths, next, want)
		}
	}
}
