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

// quick is a recipe that is over soon.
func quick(t *testing.T, name string) Recipe {
	r, err := Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	r.Epochs, r.Batch, r.Shift = 1, 8, min(r.Shift, 1)
	r.Model.EncoderLayers = 1
	return r
}

// The seed fixes every bit, on any number of threads, and other seeds give other weights.
func TestTrainingDependsOnTheSeedAlone(t *testing.T) {
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
			t.Errorf("%s: three threads come to other weights", name)
		}
		if slices.Equal(one, weights(2, 1)) {
			t.Errorf("%s: another seed comes to the same weights", name)
		}
	}
}

// A training has the same bits on every machine whose kernels are in assembly. A change of these
// checksums makes old runs impossible to repeat.
func TestSameBitsOnEveryMachine(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("the portable kernels are held to a tolerance, not to bits")
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

func TestTrainingLearns(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	r := quick(t, "vit-rows")
	r.Batch, r.Epochs = 16, 10
	r.Model.DModel, r.Model.DFF = 32, 64
	training, test := sample(400, 1), sample(200, 2)
	last := Progress{}
	m, err := Train(context.Background(), r, training, 1, nil, func(p Progress) {
		if p.Step != last.Step+1 || p.EpochEnded != (p.Step%25 == 0) || p.Steps != 250 {
			t.Fatalf("%+v after %+v", p, last)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if last.Step != 250 || last.Loss.Tokens != 400 {
		t.Errorf("the last report was %+v", last)
	}
	// Squares in ten places; it finds all, except the last weights' luck.
	if l, err := Evaluate(context.Background(), m, r, test, nil); err != nil || l.Correct < 180 || l.Tokens != 200 {
		t.Errorf("%d of %d, %v", l.Correct, l.Tokens, err)
	}
}

func TestTrainingStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("the cause")
	steps := 0
	_, err := Train(ctx, quick(t, "source"), sample(100, 1), 1, nil, func(Progress) {
		if steps++; steps == 2 {
			cancel(cause)
		}
	})
	if err != cause || steps != 2 {
		t.Errorf("%v after %d steps", err, steps)
	}
	r := quick(t, "source")
	m, err := model.NewClassifier(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	m.Params.AllocWeights()
	if _, err := Evaluate(ctx, m, r, sample(10, 1), nil); err != cause {
		t.Error(err)
	}
}

// An image stands where the shift says, on background.
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
					t.Fatalf("shift %v: (%d, %d) is %v, want a pixel of %v", shift, i, j, got, want)
				}
			}
		}
	}
}

// An epoch has each image once.
func TestDeal(t *testing.T) {
	b := newBatches(Recipe{Scale: 1}, sample(30, 1), 8)
	var orders [][]int32
	for epoch := range 3 {
		b.deal(1, epoch)
		orders = append(orders, slices.Clone(b.order))
		sorted := slices.Sorted(slices.Values(b.order))
		for i, image := range sorted {
			if int(image) != i {
				t.Fatalf("%v", sorted)
			}
		}
	}
	b.deal(1, 0)
	if !slices.Equal(b.order, orders[0]) || slices.Equal(orders[0], orders[1]) {
		t.Error("the order is not that of seed and epoch")
	}
}
