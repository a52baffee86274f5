package digits

import (
	"math/rand/v2"

	"tfm/mat"
)

// batches cuts a set into batches of rows of numbers, in memory that it reuses.
type batches struct {
	set    Set
	order  []int32
	values [256]float32 // of pixels
	shift  int
	random *rand.Rand
	x      mat.Matrix // [images·Side × Side]
	labels []int32
}

func newBatches(r Recipe, s Set, images int) *batches {
	b := &batches{set: s, shift: r.Shift, order: make([]int32, s.Len()), x: mat.New(images*Side, Side), labels: make([]int32, images)}
	for p := range b.values {
		b.values[p] = float32((float64(p)/255 - r.Mean) / r.Scale)
	}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	return b
}

// deal shuffles the set for an epoch. The order and the shifts depend on the seed and the epoch
// alone.
func (b *batches) deal(seed uint64, epoch int) {
	b.random = rand.New(rand.NewPCG(seed, uint64(epoch)))
	for i := range b.order {
		b.order[i] = int32(i)
	}
	b.random.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
}

// at returns the images [lo, hi) of the order, and their labels.
func (b *batches) at(lo, hi int) (mat.Matrix, []int32) {
	for i, image := range b.order[lo:hi] {
		down, right := 0, 0
		if b.random != nil && b.shift > 0 {
			down, right = b.random.IntN(2*b.shift+1)-b.shift, b.random.IntN(2*b.shift+1)-b.shift
		}
		b.labels[i] = b.set.Labels[image]
		b.place(b.x.RowRange(i*Side, (i+1)*Side), b.set.Pixels[int(image)*pixels:][:pixels], down, right)
	}
	return b.x.RowRange(0, (hi-lo)*Side), b.labels[:hi-lo]
}

// place sets to [Side × Side] to an image, moved.
func (b *batches) place(to mat.Matrix, image []byte, down, right int) {
	for i := range Side {
		row := to.Row(i)
		for j := range row {
			row[j] = b.values[0]
		}
		if from := i - down; from >= 0 && from < Side {
			for j := max(0, right); j < min(Side, Side+right); j++ {
				row[j] = b.values[image[from*Side+j-right]]
			}
		}
	}
}
