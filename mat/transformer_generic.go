package mat

import "math"

// The vector kernels of Transformers in plain Go, as in vec_generic.go.

func expSumGeneric(y, x []float32, shift, scale float32) float32 {
	var s lanes
	for j, v := range x {
		y[j] = expGeneric((v - shift) * scale)
		s[j%16] += y[j]
	}
	return s.sum()
}

// expGeneric returns exp(t) as in exp.go, with the products of the polynomial rounded.
func expGeneric(t float32) float32 {
	c := &expConst
	t = min(max(t, c[expMin]), c[expMax])
	z := float32(t*c[expLog2E]) + c[expRound]
	k := z - c[expRound]
	return powGeneric(float64(t), k, z)
}

func softmaxGradGeneric(dx, p, dp []float32, dot, scale float32) {
	for j := range dx {
		dx[j] = p[j] * (dp[j] - dot) * scale
	}
}

func layerNormGeneric(y, x []float32, mean, rstd float32, gain, bias []float32) {
	for j := range y {
		y[j] = float32((x[j]-mean)*rstd*gain[j]) + bias[j]
	}
}

func layerNormGradSumsGeneric(dy, x []float32, mean, rstd float32, gain []float32) (g, gx float32) {
	var s, sx lanes
	for j := range dy {
		d := float32(dy[j] * gain[j])
		s[j%16] += d
		sx[j%16] += float32(d * ((x[j] - mean) * rstd))
	}
	return s.sum(), sx.sum()
}

func layerNormGradGeneric(dx, dy, x []float32, mean, rstd float32, gain []float32, g, gx float32) {
	for j := range dx {
		d := float32(dy[j] * gain[j])
		dx[j] = rstd * (d - float32((x[j]-mean)*rstd*gx) - g)
	}
}

func layerNormParamGradGeneric(dgain, dbias, dy, x []float32, mean, rstd float32) {
	for j := range dy {
		dgain[j] += float32(dy[j] * ((x[j] - mean) * rstd))
		dbias[j] += dy[j]
	}
}

func adamGeneric(a *Adam, w, g, m, v []float32) {
	c1, c2 := 1-a.Beta1, 1-a.Beta2
	for j := range w {
		gj := g[j] * a.GradScale
		m[j] = float32(a.Beta1*m[j]) + float32(c1*gj)
		v[j] = float32(a.Beta2*v[j]) + float32(c2*gj*gj)
		root := float32(math.Sqrt(float64(v[j] * a.VScale)))
		w[j] -= float32(float32(a.StepSize*m[j]) / (root + a.Eps))
	}
}
