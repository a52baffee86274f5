package mat

import "fmt"

// Dropout zeroes each element with probability Rate and multiplies the others by 1/(1-Rate)
// (Srivastava et al., 2014). Whether element i is kept depends on Key and i only (a counter-based
// generator), so the mask is never stored: a backward pass computes it again. Masks of different
// keys are independent, including consecutive ones.
//
// The generator is integer arithmetic modulo 2^32, with lo and hi the halves of a hash of Key
// (SplitMix64; Steele, Lea and Flood, 2014):
//
//	h = i + lo; h ^= h>>16; h *= 0x21f0aaad; h ^= hi; h ^= h>>15; h *= 0x735a2d97; h ^= h>>15
//
// and i is kept if h>>1 < round((1-Rate)·2^31). Indices count modulo 2^32: a negative one is
// valid.
type Dropout struct {
	Rate   float32 // probability of a zero: 0 ≤ Rate < 1
	Key    uint64
	Offset int // added to every index, so that the mask continues another
}

const (
	dropoutMul1 = 0x21f0aaad
	dropoutMul2 = 0x735a2d97
)

// Apply sets y[j] = fma(kept(first+j) ? x[j] : 0, 1/(1-Rate), r[j]), or the product alone if r is
// nil: x[j] is element first+j of the mask. With Rate 0 it sets y = x + r, or y = x. y may be x or
// r. It panics if the lengths differ or Rate is not in [0, 1). The gradient of x is Apply of that
// of y, with r nil and the same first.
func (d Dropout) Apply(y, x, r []float32, first int) {
	if !(d.Rate >= 0 && d.Rate < 1) {
		panic(fmt.Sprintf("mat: dropout rate %v, expected one in [0, 1)", d.Rate))
	}
	if n := len(y); r == nil && len(x) != n {
		panicLengths("Dropout.Apply", len(y), len(x))
	} else if r != nil && (len(x) != n || len(r) != n) {
		panicLengths("Dropout.Apply", len(y), len(x), len(r))
	}
	first += d.Offset
	switch {
	case d.Rate == 0 && r == nil:
		copy(y, x)
		return
	case d.Rate == 0:
		AxpyTo(y, 1, x, r)
		return
	case kernel == generic:
		d.applyGeneric(y, x, r, first)
		return
	}
	keep, scale := d.threshold()
	lo, hi := d.halves()
	for j := 0; j < len(y); j += run {
		var rj *float32
		if r != nil {
			rj = &r[j]
		}
		dropoutAsm(&y[j], &x[j], rj, min(run, len(y)-j), uint32(first+j)+lo, hi, keep-1, scale)
	}
}

func (d Dropout) applyGeneric(y, x, r []float32, first int) {
	keep, scale := d.threshold()
	lo, hi := d.halves()
	for j, v := range x {
		if hash(uint32(first+j)+lo, hi)>>1 >= keep {
			v = 0
		}
		if v = float32(v * scale); r != nil {
			v += r[j]
		}
		y[j] = v
	}
}

// threshold returns the limit of h>>1 for kept elements, and their factor.
func (d Dropout) threshold() (keep uint32, scale float32) {
	p := 1 - float64(d.Rate)
	return uint32(p*(1<<31) + 0.5), float32(1 / p)
}

// halves returns the two halves of the hash of Key.
func (d Dropout) halves() (lo, hi uint32) {
	z := d.Key + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return uint32(z), uint32(z >> 32)
}

func hash(h, hi uint32) uint32 {
	h ^= h >> 16
	h *= dropoutMul1
	h ^= hi
	h ^= h >> 15
	h *= dropoutMul2
	return h ^ h>>15
}
