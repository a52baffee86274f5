package digits

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// quick returns a preset reduced to a short training.
func quick(t *testing.T, name string) Recipe {
	r, err := Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	r.Epochs, r.Batch, r.Shift = 1, 8, min(r.Shift, 1)
	r.Model.EncoderLayers = 1
	return r
}

// Equal seeds give equal bits on any number of threads, and different seeds different weights.
func TestTrainDependsOnSeedOnly(t *testing.T) {
	s := sample(19, 1)
	for _, name := range Names() {
		weights := func(seed uint64, threads int) []uint32 {
			p := mat.NewPool(threads)
			defer p.Close()
			m, err := Train(context.Background(), quick(t, name), s, seed, p, func(Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			bits := make([]uint32, len(m.Params.W))
			for i, w := range m.Params.W {
				bits[i] = math.Float32bits(w)
			}
			return bits
		}
		one := weights(1, 1)
		if !slices.Equal(one, weights(1, 3)) {
			t.Errorf("%s: weights differ between 1 and 3 threads", name)
		}
		if slices.Equal(one, weights(2, 1)) {
			t.Errorf("%s: equal weights with seeds 1 and 2", name)
		}
	}
}

// The assembly kernels of all instruction sets give the same bits. If these checksums change,
// earlier trainings cannot be reproduced.
func TestWeightChecksums(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("portable kernels: exact to a tolerance only")
	}
	for name, want := range map[string]uint32{"source": 0xfea189da, "vit-rows": 0x0ff26002} {
		m, err := Train(context.Background(), quick(t, name), sample(19, 1), 1, nil, func(Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		bits := crc32.NewIEEE()
		binary.Write(bits, binary.LittleEndian, m.Params.W)
		if got := bits.Sum32(); got != want {
			t.Errorf("%s: checksum %#08x, want %#08x", name, got, want)
		}
	}
}

func TestTrainLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 250 training steps")
	}
	r := quick(t, "vit-rows")
	r.Batch, r.Epochs = 16, 10
	r.Model.DModel, r.Model.DFF = 32, 64
	training, test := sample(400, 1), sample(200, 2)
	last := Progress{}
	m, err := Train(context.Background(), r, training, 1, nil, func(p Progress) {
		if p.Step != last.Step+1 || p.EpochEnded != (p.Step%25 == 0) || p.Steps != 250 {
			t.Fatalf("progress %+v after %+v", p, last)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if last.Step != 250 || last.Loss.Tokens != 400 {
		t.Errorf("last progress %+v, want step 250 and a loss of 400 images", last)
	}
	// The task is easy; the margin allows for noise of the last steps.
	if l, err := Evaluate(context.Background(), m, r, test, nil); err != nil || l.Correct < 180 || l.Tokens != 200 {
		t.Errorf("%d of %d correct, want at least 180 of 200; error %v", l.Correct, l.Tokens, err)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("the cause")
	steps := 0
	_, err := Train(ctx, quick(t, "source"), sample(100, 1), 1, nil, func(Progress) {
		if steps++; steps == 2 {
			cancel(cause)
		}
	})
	if err != cause || steps != 2 {
		t.Errorf("Train returned %v after %d steps, want the cause after 2", err, steps)
	}
	r := quick(t, "source")
	m, err := model.NewClassifier(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	m.Params.AllocWeights()
	if _, err := Evaluate(ctx, m, r, sample(10, 1), nil); err != cause {
		t.Errorf("Evaluate returned %v, want the cause", err)
	}
}

// place shifts an image and fills the uncovered pixels with background.
func TestPlace(t *testing.T) {
	s := sample(1, 1)
	for i := range s.Pixels {
		s.Pixels[i] = byte(1 + i%255)
	}
	b := newBatches(Recipe{Mean: 0.5, Scale: 0.5}, s, 1)
	for _, shift := range [][2]int{{0, 0}, {2, 0}, {0, 2}, {-2, 1}, {1, -2}, {-3, -3}} {
		b.place(b.x, s.Pixels, shift[0], shift[1])
		for i := range Side {
			for j := range Side {
				want := 0.0
				if y, x := i-shift[0], j-shift[1]; y >= 0 && y < Side && x >= 0 && x < Side {
					want = float64(s.Pixels[y*Side+x])
				}
				if got := float64(b.x.At(i, j)); math.Abs(got-(want/255-0.5)/0.5) > 1e-6 {
					t.Fatalf("shift %v: value %v at (%d, %d), want that of pixel %v", shift, got, i, j, want)
				}
			}
		}
	}
}

// The order of an epoch is a permutation that depends on the seed and the epoch.
func TestDeal(t *testing.T) {
	b := newBatches(Recipe{Scale: 1}, sample(30, 1), 8)
	var orders [][]int
	for epoch := range 3 {
		b.deal(1, epoch)
		orders = append(orders, slices.Clone(b.order))
		sorted := slices.Sorted(slices.Values(b.order))
		for i, image := range sorted {
			if image != i {
				t.Fatalf("epoch %d: images %v, want each once", epoch, sorted)
			}
		}
	}
	b.deal(1, 0)
	if !slices.Equal(b.order, orders[0]) || slices.Equal(orders[0], orders[1]) {
		t.Error("equal seed and epoch give different orders, or different epochs equal ones")
	}
}
