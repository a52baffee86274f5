package mat

// Dropout zeroes each element with probability Rate and multiplies the others by 1/(1-Rate) (Srivastava
// et al., 2014). Whether element i is kept is a function of Key and i alone, a counter-based generator, so
// the mask is never stored: Forward and Backward ask for it twice. Keys of different masks should come from
// a generator of random numbers: two that have the upper half in common give the same mask, shifted.
//
// The generator is 32 bits of integer arithmetic, all modulo 2^32, with lo and hi the halves of Key:
//
//	h = i + lo;  h ^= h>>16;  h *= 0x21f0aaad;  h ^= hi;  h ^= h>>15;  h *= 0x735a2d97;  h ^= h>>15
//
// and i is kept if h>>1 < round((1-Rate)·2^31).
type Dropout struct {
	Rate float32 // 0 ≤ Rate < 1
	Key  uint64
}

const (
	dropoutMul1 = 0x21f0aaad
	dropoutMul2 = 0x735a2d97
)

// Add is y[j] = fma(kept(first+j) ? x[j] : 0, 1/(1-Rate), r[j]), or the product alone if r is nil. With
// Rate 0 it is y = x + r, or y = x. y may be x or r. It panics if the lengths differ.
func (d Dropout) Add(y, x, r []float32, first int) {
	if n := len(y); len(x) != n || r != nil && len(r) != n {
		differ("Dropout.Add", len(y), len(x), len(r))
	}
	switch {
	case d.Rate == 0 && r == nil:
		copy(y, x)
		return
	case d.Rate == 0:
		ScaleAdd(y, x, 1, r)
		return
	case kernel == generic:
		d.addGeneric(y, x, r, first)
		return
	}
	keep, scale := d.threshold()
	for lo := 0; lo < len(y); lo += run {
		var rest *float32
		if r != nil {
			rest = &r[lo]
		}
		dropoutAsm(&y[lo], &x[lo], rest, min(run, len(y)-lo), uint32(first+lo)+uint32(d.Key), uint32(d.Key>>32), keep-1, scale)
	}
}

func (d Dropout) addGeneric(y, x, r []float32, first int) {
	keep, scale := d.threshold()
	for j, v := range x {
		if d.hash(uint32(first+j))>>1 >= keep {
			v = 0
		}
		if v = float32(v * scale); r != nil {
			v += r[j]
		}
		y[j] = v
	}
}

// threshold is what h>>1 must be below, and the factor of what is kept.
func (d Dropout) threshold() (keep uint32, scale float32) {
	p := 1 - float64(d.Rate)
	return uint32(p*(1<<31) + 0.5), float32(1 / p)
}

func (d Dropout) hash(i uint32) uint32 {
	h := i + uint32(d.Key)
	h ^= h >> 16
	h *= dropoutMul1
	h ^= uint32(d.Key >> 32)
	h ^= h >> 15
	h *= dropoutMul2
	return h ^ h>>15
}
