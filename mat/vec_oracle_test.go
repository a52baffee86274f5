package mat

import "math"

// A slow model of the 16-lane machine: every kernel by its documented definition, with the exact
// fma32. Kernels in assembly must return the same bits.

func sumOracle(x []float32) float32 {
	return reduceOracle(len(x), func(s float32, j int) float32 { return s + x[j] })
}

// reduceOracle accumulates element j into its lane by f, run by run.
func reduceOracle(n int, f func(s float32, j int) float32) float32 {
	var sum float32
	for lo := 0; lo < n; lo += 8192 {
		var s [16]float32
		for j := lo; j < min(lo+8192, n); j++ {
			s[j%16] = f(s[j%16], j)
		}
		for h := 8; h > 0; h /= 2 {
			for l := range h {
				s[l] += s[l+h]
			}
		}
		sum += s[0]
	}
	return sum
}

func dotOracle(x, y []float32) float32 {
	return reduceOracle(len(x), func(s float32, j int) float32 { return fma32(x[j], y[j], s) })
}

func sumSquaredDiffOracle(x []float32, mean float32) float32 {
	return reduceOracle(len(x), func(s float32, j int) float32 {
		d := x[j] - mean
		return fma32(d, d, s)
	})
}

func maxOracle(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		m = max(m, v)
	}
	if m == 0 {
		return 0
	}
	return m
}

func exp32(t float32) float32 {
	if t < -0x1.5d58ap6 {
		t = -0x1.5d58ap6
	}
	if t > 89.4 {
		t = 89.4
	}
	return power32(t, 0, 126)
}

// power32 returns e^(t+tl)·2^(bias-126).
func power32(t, tl, bias float32) float32 {
	magic := 0x1.8p23 + bias
	z := fma32(t, 1/math.Ln2, magic)
	k := z - magic
	r := fma32(-k, 0x1.62e43p-1, t)
	r = fma32(-k, math.Ln2-0x1.62e43p-1, r)
	r += tl
	p := horner32(r, 2*0.0013814598646808571, 2*0.008368716879735406, 2*0.041668388045312456, 2*0.1666652063170941, 2*0.4999999344779648, 2, 2)
	return p * math.Float32frombits(math.Float32bits(z)<<23)
}

func horner32(x float32, c ...float32) float32 {
	p := c[0]
	for _, c := range c[1:] {
		p = fma32(p, x, c)
	}
	return p
}

// activationOracle returns f(x) and f'(x).
func activationOracle(f Activation, x float32) (y, slope float32) {
	if f == ReLU {
		switch {
		case x > 0:
			return x, 1
		case x < 0:
			return 0, 0
		}
		return x, 0
	}
	n := -float32(math.Abs(float64(x)))
	if limit := [...]float32{SiLU: -109.51725452847135889, GELU: -14.799814494004400114, GELUTanh: -10.889513329305382455}[f]; n < limit {
		n = limit
	}
	var m, g float32
	switch f {
	case SiLU:
		e := power32(n, 0, 158)
		d := fma32(e, 0x1p-32, 1)
		ne, sum := n*e, d+n
		m, g = ne/d, float32(e*sum)/float32(d*d)
	case GELU:
		h := n * -0.5
		t := n * h
		e := power32(t, fma32(n, h, -t), 158)
		r := horner32(n, 0.00414592301788215803, -0.0408321283532487929, 0.18382417030567125, -0.439088399942346588, 0.50000000311046952) /
			horner32(n, -0.0103921746383829058, 0.102357148130225189, -0.471025897550590132, 1.20494717027492191, -1.6760618017243435, 1)
		ne := n * e
		m, g = ne*r, e*fma32(n, 0.39894228040143267794, r)
	case GELUTanh:
		const c1, c3 = 1.5957691216057307118, 0.071354816272600248776
		const c1Hi, c3Hi = 0x1.98845p0, 0x1.2444f2p-4
		s := n * n
		q := fma32(c3Hi, s, c1Hi)
		l := fma32(c3Hi, s, c1Hi-q)
		l = fma32(c3-c3Hi, s, l)
		l = fma32(c3Hi, fma32(n, n, -s), l)
		l += c1 - c1Hi
		t := n * q
		e := power32(t, fma32(n, l, fma32(n, q, -t)), 158)
		d := fma32(e, 0x1p-32, 1)
		ne := n * e
		m, g = ne/d, float32(e*fma32(n, fma32(3*c3, s, c1Hi), d))/float32(d*d)
	}
	base := float32(0)
	if x > 0 {
		base = x
	}
	y = fma32(m, 0x1p-32, base)
	if math.Signbit(float64(x)) {
		return y, fma32(g, 0x1p-32, 0)
	}
	return y, fma32(-g, 0x1p-32, 1)
}

func expSumOracle(y, x []float32, shift, scale float32) float32 {
	for j := range y {
		d := x[j] - shift
		y[j] = exp32(d * scale)
	}
	return sumOracle(y)
}

func softmaxOracle(y, x []float32, scale float32) {
	shift := maxOracle(x)
	if shift < -math.MaxFloat32 {
		shift = -math.MaxFloat32
	}
	sum := expSumOracle(y, x, shift, scale)
	if sum < 1 {
		sum = 1
	}
	for j := range y {
		y[j] *= 1 / sum
	}
}

// eachOracle computes y[j] = f(j).
func eachOracle(y []float32, f func(j int) float32) {
	for j := range y {
		y[j] = f(j)
	}
}

func xhat(x, mean, rstd float32) float32 {
	d := x - mean
	return d * rstd
}

func layerNormGradSumsOracle(dy, x []float32, mean, rstd float32, gain []float32) (g, gx float32) {
	g = reduceOracle(len(x), func(s float32, j int) float32 { return s + float32(dy[j]*gain[j]) })
	gx = reduceOracle(len(x), func(s float32, j int) float32 {
		return fma32(float32(dy[j]*gain[j]), xhat(x[j], mean, rstd), s)
	})
	return g, gx
}

func layerNormGradOracle(dx, dy, x []float32, mean, rstd float32, gain []float32, g, gx float32) {
	eachOracle(dx, func(j int) float32 {
		d := fma32(-xhat(x[j], mean, rstd), gx, float32(dy[j]*gain[j])) - g
		return d * rstd
	})
}

func adamOracle(a *Adam, w, g, m, v []float32) {
	for j := range w {
		d := g[j] * a.GradScale
		m[j] = fma32(a.Beta1, m[j], float32((1-a.Beta1)*d))
		d2 := float32((1 - a.Beta2) * d)
		v[j] = fma32(a.Beta2, v[j], float32(d2*d))
		root := float32(math.Sqrt(float64(float32(v[j] * a.VScale)))) // a root may be rounded twice
		w[j] -= float32(a.StepSize*m[j]) / (root + a.Eps)
	}
}

func dropoutOracle(d Dropout, y, x, r []float32, first int) {
	key := d.Key + 0x9e3779b97f4a7c15
	key ^= key >> 30
	key *= 0xbf58476d1ce4e5b9
	key ^= key >> 27
	key *= 0x94d049bb133111eb
	key ^= key >> 31
	lo, hi := uint32(key), uint32(key>>32)
	keep := math.Floor((1-float64(d.Rate))*(1<<31) + 0.5)
	scale := float32(1 / (1 - float64(d.Rate)))
	eachOracle(y, func(j int) float32 {
		h := uint32(first+j) + lo
		h ^= h >> 16
		h *= 0x21f0aaad
		h ^= hi
		h ^= h >> 15
		h *= 0x735a2d97
		h ^= h >> 15
		kept := float32(0)
		if float64(h>>1) < keep {
			kept = x[j]
		}
		if r == nil {
			return kept * scale
		}
		return fma32(kept, scale, r[j])
	})
}
