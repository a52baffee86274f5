package layer

import "tfm/mat"

// Output is the linear map and the softmax above the decoder in figure 1, and the loss: logits =
// x·Eᵀ (section 3.4, E tied to the embeddings or not) and cross-entropy with label smoothing
// (section 5.4). It works on chunks of rows, so that the [n × V] logits never exist at once.
type Output struct {
	E         *Param  // [V, d]
	Bias      *Param  // [V], added to the logits; nil in the paper
	Smoothing float32 // ε: the target has weight 1-ε, each of the V-1 others ε/(V-1)
	SmoothAll bool    // each of all V has ε/V, the target 1-ε beside it (Szegedy et al., 2016; PyTorch)
	Precision Precision
}

// Loss is summed over tokens, in nats.
type Loss struct {
	Sum     float64 // the cross-entropy with label smoothing, which is trained on
	NLL     float64 // -log p(target)
	KL      float64 // of Output.RDrop: ½(KL(p‖p') + KL(p'‖p)) of the two distributions of each token
	Tokens  int
	Correct int // tokens whose target has the highest probability
}

// Plus returns the loss of two batches together.
func (l Loss) Plus(o Loss) Loss {
	return Loss{l.Sum + o.Sum, l.NLL + o.NLL, l.KL + o.KL, l.Tokens + o.Tokens, l.Correct + o.Correct}
}

// Losses holds the loss of each token of a batch, so that sums do not depend on which came first.
type Losses struct {
	sum, nll, kl []float32 // [n] as in Loss
	correct      []float32 // [n] 1 or 0
}

// AllocLosses takes the memory for n tokens.
func AllocLosses(a *Arena, n int) Losses {
	return Losses{a.Slice(n), a.Slice(n), a.Slice(n), a.Slice(n)}
}

// RowRange views the losses of tokens [lo, hi).
func (l Losses) RowRange(lo, hi int) Losses {
	return Losses{l.sum[lo:hi], l.nll[lo:hi], l.kl[lo:hi], l.correct[lo:hi]}
}

// Total adds up the losses, in order.
func (l Losses) Total() Loss {
	t := Loss{Tokens: len(l.sum)}
	for i := range l.sum {
		t.Sum += float64(l.sum[i])
		t.NLL += float64(l.nll[i])
		t.KL += float64(l.kl[i])
		t.Correct += int(l.correct[i])
	}
	return t
}

// Targets says what each of n rows is to predict, and takes what comes of it.
type Targets struct {
	IDs    []int32 // [n] in [0, V)
	Losses Losses  // [n] set for each row
	Scale  float32 // of the derivative: 1/tokens for the mean loss of a batch
}

// rowRange views the targets of rows [lo, hi).
func (t Targets) rowRange(lo, hi int) Targets {
	return Targets{t.IDs[lo:hi], t.Losses.RowRange(lo, hi), t.Scale}
}

// LossWorkspace is the memory that an Output works in.
type LossWorkspace struct {
	logits mat.Matrix // [chunk × V]
	diff   mat.Matrix // [half a chunk × V] for RDrop: differences of two rows of logits
}

// Alloc takes the memory for n tokens.
func (l Output) Alloc(a *Arena, n int) LossWorkspace {
	return LossWorkspace{logits: a.Matrix(l.chunk(n), l.E.Shape[0])}
}

// chunk returns how many of n rows of logits exist at once.
func (l Output) chunk(n int) int {
	const numbers = 1 << 22 // fits the last-level cache, and gives products enough rows
	return min(n, max(32, min(512, numbers/l.E.Shape[0])))
}

// Logits sets y [n × V] = x·Eᵀ, plus the bias if there is one.
func (l Output) Logits(pool *mat.Pool, y, x mat.Matrix) {
	l.LogitsTransposed(pool, y, x, l.E.Weights().T())
}

// LogitsTransposed is Logits with a transpose [d × V] of E, for callers that multiply by it often.
func (l Output) LogitsTransposed(pool *mat.Pool, y, x, transposed mat.Matrix) {
	var o mat.GemmOptions
	if l.Bias != nil {
		o.Bias = l.Bias.W
	}
	l.Precision.gemm(pool, y, x, transposed, o)
}

// Forward sets t.Losses for x [n × d].
func (l Output) Forward(pool *mat.Pool, x mat.Matrix, t Targets, w LossWorkspace) {
	for lo := 0; lo < x.Rows; lo += w.logits.Rows {
		hi := min(lo+w.logits.Rows, x.Rows)
		logits := w.logits.RowRange(0, hi-lo)
		l.Logits(pool, logits, x.RowRange(lo, hi))
		mat.Each(pool, hi-lo, lossGrain, crossEntropy{l, logits, t.rowRange(lo, hi), false})
	}
}

// ForwardBackward sets t.Losses and adds t.Scale times their derivative to the gradients of E and
// the bias, setting dx [n × d] likewise.
//
// For a row of logits x with p = softmax(x), target t and the smoothed target distribution q:
//
//	loss = Σ_j q_j·(log Z - x_j),  Z = Σ_j e^(x_j)   so   dlogits = p - q
//	logits = x·Eᵀ + b   so   dx = dlogits·E   dE = dlogitsᵀ·x   db = Σ_rows dlogits
func (l Output) ForwardBackward(pool *mat.Pool, dx, x mat.Matrix, t Targets, w LossWorkspace) {
	for lo := 0; lo < x.Rows; lo += w.logits.Rows {
		hi := min(lo+w.logits.Rows, x.Rows)
		logits := w.logits.RowRange(0, hi-lo)
		l.Logits(pool, logits, x.RowRange(lo, hi))
		mat.Each(pool, hi-lo, lossGrain, crossEntropy{l, logits, t.rowRange(lo, hi), true})
		l.backward(pool, dx.RowRange(lo, hi), logits, x.RowRange(lo, hi), hi == x.Rows) // logits now hold dlogits
	}
}

// lossGrain is the number of rows of logits that a thread takes at a time.
const lossGrain = 4

// backward sets dx and adds to the gradients of E and the bias for logits = x·Eᵀ + b. last says
// that these rows are the last of their microbatch.
func (l Output) backward(pool *mat.Pool, dx, dlogits, x mat.Matrix, last bool) {
	l.Precision.gemm(pool, dx, dlogits, l.E.Weights(), mat.GemmOptions{})
	l.E.AddInOrder(last, func(lo, hi int) {
		if l.Bias != nil && lo == 0 {
			AddRows(pool, l.Bias.G, dlogits)
		}
		l.Precision.gemm(pool, l.E.Grad().RowRange(lo, hi), dlogits.T().RowRange(lo, hi), x, Add.gemm())
	})
}

// crossEntropy turns rows of logits into the losses of their tokens and, if grad, into
// Scale·dlogits.
type crossEntropy struct {
	Output
	logits  mat.Matrix
	targets Targets
	grad    bool
}

func (t *crossEntropy) Range(lo, hi int) {
	target, others := t.smoothed(t.logits.Cols)
	scale := t.targets.Scale
	for i := lo; i < hi; i++ {
		z := t.loss(i, target, others)
		if t.grad {
			x := t.logits.Row(i)
			mat.ScaleShift(x, scale/z, -scale*others) // p - q, except at the target
			x[t.targets.IDs[i]] -= float32(scale * (target - others))
		}
	}
}

// smoothed returns the weights in q of the target and of each other entry.
func (l Output) smoothed(v int) (target, others float32) {
	target, others = 1-l.Smoothing, l.Smoothing/float32(v-1)
	if l.SmoothAll {
		others = l.Smoothing / float32(v)
		target += others
	}
	return target, others
}

// loss sets the loss of row i, turns its logits into e^(x-max), and returns their sum.
func (t *crossEntropy) loss(i int, target, others float32) (z float32) {
	x, want, out := t.logits.Row(i), t.targets.IDs[i], t.targets.Losses
	xt, total, top := float64(x[want]), float64(mat.Sum(x)), mat.Max(x)
	out.kl[i], out.correct[i] = 0, 0
	if x[want] == top {
		out.correct[i] = 1
	}
	z = mat.ExpSum(x, x, top)
	logZ := float64(top) + mat.Log(float64(z))
	out.nll[i] = float32(logZ - xt)
	weighted := float64(float64(target) * xt)
	out.sum[i] = float32(logZ - weighted - float64(float64(others)*(total-xt)))
	return z
}
