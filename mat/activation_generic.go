package mat

import "math"

// The activations in plain Go, for machines without assembly: the operations of activation.go,
// except that a product is rounded before it is added and the exponent is a float64.

func (f Activation) applyGeneric(y, x []float32) {
	for j, v := range x {
		y[j], _ = f.atGeneric(v)
	}
}

func (f Activation) gradGeneric(dx, x []float32) {
	for j, v := range x {
		if _, slope := f.atGeneric(v); f != ReLU {
			dx[j] *= slope
		} else if slope == 0 {
			dx[j] = 0
		}
	}
}

// atGeneric returns f(x) and f'(x).
func (f Activation) atGeneric(x float32) (y, slope float32) {
	c := &actConst
	var g float32
	switch n := -float32(math.Abs(float64(x))); f {
	case ReLU:
		switch {
		case x > 0:
			return x, 1
		case x < 0:
			return 0, 0
		}
		return x, 0 // ±0 or NaN
	case GELU:
		n = max(n, c[geluLimit])
		p, q := c[geluP], c[geluQ]
		for i := 1; i < 5; i++ {
			p = float32(p*n) + c[geluP+i]
			q = float32(q*n) + c[geluQ+i]
		}
		r := p / (float32(q*n) + 1)
		e := tailGeneric(-0.5 * float64(n) * float64(n))
		y = n * e * r
		g = e * (float32(c[geluDensity]*n) + r)
	case GELUTanh:
		const c1, c3 = 1.5957691216057307118, 0.071354816272600248776
		n = max(n, c[tanhLimit])
		s := float64(n) * float64(n)
		e := tailGeneric(float64(n) * (float64(c3*s) + c1))
		d := float32(e*0x1p-32) + 1
		y = n * e / d
		g = e * (float32(float64(n)*(float64(3*c3*s)+c1)) + d) / (d * d)
	case SiLU:
		n = max(n, c[siluLimit])
		e := tailGeneric(float64(n))
		d := float32(e*0x1p-32) + 1
		y = n * e / d
		g = e * (d + n) / (d * d)
	}
	g = float32(g*0x1p-32) + 0 // -0 becomes +0
	if !math.Signbit(float64(x)) {
		g = 1 - g
	}
	return float32(y*0x1p-32) + max(x, 0), g
}

// tailGeneric returns 2^32·e^t for t from -158·ln 2 to 0.
func tailGeneric(t float64) float32 {
	z := float32(t*(1/math.Ln2)) + actConst[actRound]
	return powGeneric(t, z-actConst[actRound], z)
}

// powGeneric returns 2·e^(t - k·ln 2)·2^b, where the low bits of z hold the biased exponent b.
func powGeneric(t float64, k, z float32) float32 {
	c := &expConst
	r := float32(t - float64(float64(k)*math.Ln2))
	p := c[expPoly]
	for i := 1; i < 6; i++ {
		p = float32(p*r) + c[expPoly+i]
	}
	p = float32(p*r) + c[expPoly+5]
	return p * math.Float32frombits(math.Float32bits(z)<<23)
}
