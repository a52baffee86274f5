package layer

import "tfm/mat"

// Projection is the last step of the model and the loss in one: logits = x·Eᵀ (section 3.4, E shared with
// the embeddings or not), softmax, and the cross-entropy with label smoothing (section 5.4). It works on
// chunks of rows, so the [n × V] logits never exist at once.
type Projection struct {
	E         *Param  // [V, d]
	Bias      *Param  // [V], added to the logits; nil in the paper
	Smoothing float32 // ε: the target has weight 1-ε, each of the V-1 others ε/(V-1)
	SmoothAll bool    // each of all V has ε/V, the target 1-ε beside it (Szegedy et al., 2016; PyTorch)
}

// Loss is summed over tokens, in nats.
type Loss struct {
	Sum     float64 // the cross-entropy with label smoothing, which is trained on
	NLL     float64 // -log p(target)
	Tokens  int
	Correct int // tokens whose target has the highest probability
}

// Plus is the loss of two batches together.
func (l Loss) Plus(o Loss) Loss {
	return Loss{l.Sum + o.Sum, l.NLL + o.NLL, l.Tokens + o.Tokens, l.Correct + o.Correct}
}

// LossRoom is the memory that a Projection works in.
type LossRoom struct {
	logits   mat.Matrix // [chunk × V]
	sum, nll []float32  // [n] loss of each token
	correct  []float32  // [n] 1 or 0
}

// NewLossRoom takes the memory for n tokens.
func (l Projection) NewLossRoom(a *Arena, n int) LossRoom {
	const numbers = 1 << 22 // in a chunk of logits: small enough for the last-level cache, rows enough for Gemm
	v := l.E.Shape[0]
	return LossRoom{a.Matrix(min(n, max(32, min(512, numbers/v))), v), a.Slice(n), a.Slice(n), a.Slice(n)}
}

// Logits sets y [n × V] = x·Eᵀ, plus the bias if there is one.
func (l Projection) Logits(p *mat.Pool, y, x mat.Matrix) {
	l.LogitsBy(p, y, x, l.E.Weights().T())
}

// LogitsBy is Logits with a transpose [d × V] of E, for those who multiply by it often.
func (l Projection) LogitsBy(p *mat.Pool, y, x, transposed mat.Matrix) {
	var o mat.Product
	if l.Bias != nil {
		o.Bias = l.Bias.W
	}
	mat.Gemm(p, y, x, transposed, o)
}

// Forward returns the loss of x [n × d] for targets [n], ids in [0, V).
func (l Projection) Forward(p *mat.Pool, x mat.Matrix, targets []int32, room LossRoom) Loss {
	for lo := 0; lo < x.Rows; lo += room.logits.Rows {
		hi := min(lo+room.logits.Rows, x.Rows)
		logits := room.logits.RowRange(0, hi-lo)
		l.Logits(p, logits, x.RowRange(lo, hi))
		mat.Each(p, hi-lo, 4, crossEntropy{l, logits, targets[lo:hi], room.rows(lo, hi), false, 0})
	}
	return room.total(len(targets))
}

// ForwardBackward returns the loss and adds scale times its derivative to the gradients of E and the bias, setting
// dx [n × d] likewise.
//
// For a row of logits x with p = softmax(x), target t and the smoothed target distribution q:
//
//	loss = Σ_j q_j·(log Z - x_j),  log Z = log Σ_j e^(x_j)   so   dlogits = p - q
//	logits = x·Eᵀ + b                                        so   dx = dlogits·E   dE = dlogitsᵀ·x   db = Σ_rows dlogits
func (l Projection) ForwardBackward(p *mat.Pool, dx, x mat.Matrix, targets []int32, scale float32, room LossRoom) Loss {
	for lo := 0; lo < x.Rows; lo += room.logits.Rows {
		hi := min(lo+room.logits.Rows, x.Rows)
		logits := room.logits.RowRange(0, hi-lo)
		l.Logits(p, logits, x.RowRange(lo, hi))
		mat.Each(p, hi-lo, 4, crossEntropy{l, logits, targets[lo:hi], room.rows(lo, hi), true, scale})
		mat.Gemm(p, dx.RowRange(lo, hi), logits, l.E.Weights(), mat.Product{}) // logits now hold dlogits
		mat.Gemm(p, l.E.Grad(), logits.T(), x.RowRange(lo, hi), Add)
		if l.Bias != nil {
			AddRows(p, l.Bias.G, logits)
		}
	}
	return room.total(len(targets))
}

func (r LossRoom) rows(lo, hi int) LossRoom {
	return LossRoom{sum: r.sum[lo:hi], nll: r.nll[lo:hi], correct: r.correct[lo:hi]}
}

func (r LossRoom) total(n int) Loss {
	t := Loss{Tokens: n}
	for i := range n {
		t.Sum += float64(r.sum[i])
		t.NLL += float64(r.nll[i])
		t.Correct += int(r.correct[i])
	}
	return t
}

// crossEntropy turns rows of logits into the losses of their tokens and, if asked for, into scale·dlogits.
type crossEntropy struct {
	Projection
	logits  mat.Matrix
	targets []int32
	out     LossRoom
	grad    bool
	scale   float32
}

func (t *crossEntropy) Rows(lo, hi int) {
	v := t.logits.Cols
	others := t.Smoothing / float32(v-1)
	target := 1 - t.Smoothing
	if t.SmoothAll {
		others = t.Smoothing / float32(v)
		target += others
	}
	for i := lo; i < hi; i++ {
		x, want := t.logits.Row(i), t.targets[i]
		xt, total, top := float64(x[want]), float64(mat.Sum(x)), mat.Max(x)
		t.out.correct[i] = 0
		if x[want] == top {
			t.out.correct[i] = 1
		}
		z := mat.ExpSum(x, x, top)
		logZ := float64(top) + mat.Log(float64(z))
		t.out.nll[i] = float32(logZ - xt)
		weighted := float64(float64(target) * xt)
		t.out.sum[i] = float32(logZ - weighted - float64(float64(others)*(total-xt)))
		if t.grad {
			mat.ScaleShift(x, t.scale/z, -t.scale*others) // p - q, but for the target
			x[want] -= float32(t.scale * (target - others))
		}
	}
}
