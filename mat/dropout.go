package mat

// Dropout zeroes each element with probability Rate and multiplies the others by 1/(1-Rate) (Srivastava
// et al., 2014). Whether element i is kept is a function of Key and i alone, a counter-based generator, so
// the mask is never stored: Forward and Backward ask for it twice.
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

// Add is y[j] = kept(first+j) ? fma(x[j], 1/(1-Rate), r[j]) : r[j]. A nil r stands for zeros. y may be x or r. With Rate 0
// it is y = x + r.
func (d Dropout) Add(y, x, r []float32, first int) {
	same("Dropout.Add", len(y), len(x))
	if r != nil {
		same("Dropout.Add", len(y), len(r))
	}
	d.addGeneric(y, x, r, first)
}

func (d Dropout) addGeneric(y, x, r []float32, first int) {
	keep, scale := d.threshold()
	for j, v := range x {
		var res float32
		if r != nil {
			res = r[j]
		}
		if d.hash(uint32(first+j))>>1 < keep {
			res += float32(v * scale)
		}
		y[j] = res
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
	h *= 0x21f0aaad
	h ^= uint32(d.Key >> 32)
	h ^= h >> 15
	h *= 0x735a2d97
	return h ^ h>>15
}
