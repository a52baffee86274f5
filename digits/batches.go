package digits

import (
	"math/rand/v2"

	"tfm/mat"
)

// batches returns the images of a set as batches, in memory that each batch reuses.
type batches struct {
	set    Set
	order  []int        // of the images in this epoch
	values [256]float32 // normalised value of each pixel value
	shift  int          // see Recipe.Shift
	random *rand.Rand   // nil before the first epoch: no shifts
	x      mat.Matrix   // [images·Side × Side]
	labels []int32
}

// newBatches returns the batches of s, each of at most images images, in the set's order and
// without shifts until deal is called.
func newBatches(r Recipe, s Set, images int) *batches {
	b := &batches{set: s, shift: r.Shift, order: make([]int, s.Len()), x: mat.New(images*Side, Side), labels: make([]int32, images)}
	for p := range b.values {
		b.values[p] = float32((float64(p)/255 - r.Mean) / r.Scale)
	}
	for i := range b.order {
		b.order[i] = i
	}
	return b
}

// deal shuffles the set for an epoch. The order and the shifts depend on the seed and the epoch
// alone.
func (b *batches) deal(seed uint64, epoch int) {
	b.random = rand.New(rand.NewPCG(seed, uint64(epoch)))
	b.order = b.random.Perm(len(b.order))
}

// at returns the images [lo, hi) of the order, and their labels.
func (b *batches) at(lo, hi int) (mat.Matrix, []int32) {
	for i, image := range b.order[lo:hi] {
		down, right := 0, 0
		if b.random != nil && b.shift > 0 {
			down, right = b.random.IntN(2*b.shift+1)-b.shift, b.random.IntN(2*b.shift+1)-b.shift
		}
		b.labels[i] = b.set.Labels[image]
		b.place(b.x.RowRange(i*Side, (i+1)*Side), b.set.Pixels[image*pixels:][:pixels], down, right)
	}
	return b.x.RowRange(0, (hi-lo)*Side), b.labels[:hi-lo]
}

// place writes an image into dst [Side × Side], shifted by down rows and right columns. Uncovered
// pixels are background.
func (b *batches) place(dst mat.Matrix, image []byte, down, right int) {
	for i := range Side {
		row := dst.Row(i)
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
