package mat

// Adam holds the constants of one step of the Adam optimizer, including the bias corrections of the
// moments. For gradient g, moments m and v, and parameter w:
//
//	g' = g·GradScale
//	m  = fma(Beta1, m, (1-Beta1)·g')
//	v  = fma(Beta2, v, ((1-Beta2)·g')·g')
//	w  = w - (StepSize·m) / (sqrt(v·VScale) + Eps)
//
// Source: Kingma and Ba, 2015, algorithm 1. The bias corrections of step t = 1, 2, … are in
// StepSize = α/(1-Beta1^t), where α is the learning rate, and VScale = 1/(1-Beta2^t). GradScale
// is 1, or less to clip the gradient. VScale and GradScale must be set.
type Adam struct {
	Beta1, Beta2, Eps           float32
	StepSize, VScale, GradScale float32
}

// Step updates w, m and v with the gradient g. It panics if the lengths differ, and if GradScale or
// VScale is 0, with which w would never change or become NaN. The four slices must not overlap. It
// runs on the calling goroutine.
func (a *Adam) Step(w, g, m, v []float32) {
	if n := len(w); len(g) != n || len(m) != n || len(v) != n {
		panicLengths("Adam.Step", len(w), len(g), len(m), len(v))
	}
	if a.GradScale == 0 {
		panic("mat: Adam.Step with GradScale 0; it is 1 without clipping")
	}
	if a.VScale == 0 {
		panic("mat: Adam.Step with VScale 0, expected 1/(1-Beta2^t) in step t")
	}
	if kernel == generic {
		adamGeneric(a, w, g, m, v)
		return
	}
	for lo := 0; lo < len(w); lo += run {
		adamAsm(a, &w[lo], &g[lo], &m[lo], &v[lo], min(run, len(w)-lo))
	}
}
