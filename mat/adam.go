package mat

// Adam is one step of Adam on a run of parameters, with the corrections for the bias of the moments
// already in Rate and Second:
//
//	g' = g·Clip
//	m  = fma(Beta1, m, (1-Beta1)·g')
//	v  = fma(Beta2, v, ((1-Beta2)·g')·g')
//	w  = w - (Rate·m) / (sqrt(v·Second) + Eps)
//
// Source: Kingma and Ba, 2015, algorithm 1, with Rate = α/(1-Beta1^t) and Second = 1/(1-Beta2^t).
type Adam struct {
	Beta1, Beta2, Eps       float32
	Rate, VScale, GradScale float32
}

// Step applies the step to w, m and v for the gradient g. The four must not overlap.
func (a *Adam) Step(w, g, m, v []float32) {
	if n := len(w); len(g) != n || len(m) != n || len(v) != n {
		panicLengths("Adam.Step", len(w), len(g), len(m), len(v))
	}
	if kernel == generic {
		adamGeneric(a, w, g, m, v)
		return
	}
	for lo := 0; lo < len(w); lo += run {
		adamAsm(a, &w[lo], &g[lo], &m[lo], &v[lo], min(run, len(w)-lo))
	}
}
