//go:build (amd64 || arm64) && !purego && !noasm

package mat

// The functions of transformer_amd64.s and transformer_arm64.s, each with its definition in Go, for
// 0 ≤ n ≤ run. They check nothing; the exported functions do.

// expSumAsm is
//
//	var s lanes
//	for j := range n {
//		y[j] = exp((x[j] - shift) * scale) // exp.go
//		s[j%16] += y[j]
//	}
//	return s.sum()
//
//go:noescape
func expSumAsm(y, x *float32, n int, shift, scale float32) float32

// softmaxAsm is
//
//	shift := max(maxAsm(x, n), -math.MaxFloat32)
//	f := 1 / max(expSumAsm(y, x, n, shift, scale), 1)
//	for j := range n {
//		y[j] *= f
//	}
//
//go:noescape
func softmaxAsm(y, x *float32, n int, scale float32)

// softmaxGradAsm is
//
//	for j := range n {
//		dx[j] = p[j] * (dp[j] - dot) * scale
//	}
//
//go:noescape
func softmaxGradAsm(dx, p, dp *float32, n int, dot, scale float32)

// layerNormAsm is
//
//	for j := range n {
//		y[j] = fma((x[j]-mean)*rstd, gain[j], bias[j])
//	}
//
//go:noescape
func layerNormAsm(y, x, gain, bias *float32, n int, mean, rstd float32)

// layerNormGradSumsAsm is
//
//	var s, sx lanes
//	for j := range n {
//		d := dy[j] * gain[j]
//		s[j%16] += d
//		sx[j%16] = fma(d, (x[j]-mean)*rstd, sx[j%16])
//	}
//	return s.sum(), sx.sum()
//
//go:noescape
func layerNormGradSumsAsm(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)

// layerNormGradAsm is
//
//	for j := range n {
//		d := dy[j] * gain[j]
//		dx[j] = (fma(-(x[j]-mean)*rstd, meanGX, d) - meanG) * rstd
//	}
//
//go:noescape
func layerNormGradAsm(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)

// layerNormParamGradAsm is
//
//	for j := range n {
//		dgain[j] = fma(dy[j], (x[j]-mean)*rstd, dgain[j])
//		dbias[j] += dy[j]
//	}
//
//go:noescape
func layerNormParamGradAsm(dgain, dbias, dy, x *float32, n int, mean, rstd float32)

// adamAsm is
//
//	for j := range n {
//		d := grad[j] * a.GradScale
//		m[j] = fma(a.Beta1, m[j], (1-a.Beta1)*d)
//		v[j] = fma(a.Beta2, v[j], (1-a.Beta2)*d*d)
//		w[j] -= (a.StepSize * m[j]) / (sqrt(v[j]*a.VScale) + a.Eps)
//	}
//
// adamOracle, in the tests, is this loop.
//
//go:noescape
func adamAsm(a *Adam, w, grad, m, v *float32, n int)

// dropoutAsm is
//
//	for j := range n {
//		kept := x[j]
//		if hash(counter+j, key)>>1 > last { // as signed numbers
//			kept = 0
//		}
//		if r != nil {
//			y[j] = fma(kept, scale, r[j])
//		} else {
//			y[j] = kept * scale
//		}
//	}
//
//go:noescape
func dropoutAsm(y, x, r *float32, n int, counter, key, last uint32, scale float32)

// reluAsm is
//
//	for j := range n {
//		if y[j] = x[j]; x[j] < 0 {
//			y[j] = 0
//		}
//	}
//
//go:noescape
func reluAsm(y, x *float32, n int)

// reluGradAsm is
//
//	for j := range n {
//		if !(x[j] > 0) {
//			dx[j] = 0
//		}
//	}
//
//go:noescape
func reluGradAsm(dx, x *float32, n int)

// geluAsm is
//
//	for j := range n {
//		y[j] = f(x[j]) // GELU of activation.go
//	}
//
//go:noescape
func geluAsm(y, x *float32, n int)

// geluGradAsm is
//
//	for j := range n {
//		dx[j] *= f'(x[j])
//	}
//
//go:noescape
func geluGradAsm(dx, x *float32, n int)

// geluTanhAsm is
//
//	for j := range n {
//		y[j] = f(x[j]) // GELUTanh of activation.go
//	}
//
//go:noescape
func geluTanhAsm(y, x *float32, n int)

// geluTanhGradAsm is
//
//	for j := range n {
//		dx[j] *= f'(x[j])
//	}
//
//go:noescape
func geluTanhGradAsm(dx, x *float32, n int)

// siluAsm is
//
//	for j := range n {
//		y[j] = f(x[j]) // SiLU of activation.go
//	}
//
//go:noescape
func siluAsm(y, x *float32, n int)

// siluGradAsm is
//
//	for j := range n {
//		dx[j] *= f'(x[j])
//	}
//
//go:noescape
func siluGradAsm(dx, x *float32, n int)
