package layer

import (
	"math"

	"tfm/internal/exact"
	"tfm/mat"
)

// Output is the linear map and softmax above the decoder in figure 1, with the loss: logits =
// x·Eᵀ (section 3.4; E may be tied to the embeddings) and cross-entropy with label smoothing
// (section 5.4). It computes chunks of rows, so that the [n × V] logits never exist at once.
type Output struct {
	E         *Param  // [V, d]
	Bias      *Param  // b [V], added to the logits; nil in the paper
	Smoothing float32 // ε: the target has probability 1-ε, each of the V-1 others ε/(V-1)
	SmoothAll bool    // ε/V for all V, plus 1-ε for the target (Szegedy et al., 2016; PyTorch)
	Precision Precision
}

// Loss is a sum over tokens, in nats.
type Loss struct {
	Sum     float64 // cross-entropy with label smoothing, which training minimizes
	NLL     float64 // -log p(target)
	KL      float64 // KL(p‖p') + KL(p'‖p) of a token's two distributions, see Output.RDrop
	Tokens  int
	Correct int // tokens whose target has the highest probability
}

// Plus returns the sum of two losses.
func (l Loss) Plus(o Loss) Loss {
	return Loss{l.Sum + o.Sum, l.NLL + o.NLL, l.KL + o.KL, l.Tokens + o.Tokens, l.Correct + o.Correct}
}

// Losses holds the loss of each token of a batch, so that a sum does not depend on the order in
// which they were computed.
type Losses struct {
	sum, nll, kl []float32 // [n] as in Loss
	correct      []float32 // [n] 1 or 0
}

// AllocLosses allocates the losses of n tokens.
func AllocLosses(a *Arena, n int) Losses {
	return Losses{a.Slice(n), a.Slice(n), a.Slice(n), a.Slice(n)}
}

// RowRange views the losses of tokens [lo, hi).
func (l Losses) RowRange(lo, hi int) Losses {
	return Losses{l.sum[lo:hi], l.nll[lo:hi], l.kl[lo:hi], l.correct[lo:hi]}
}

// Total returns the sum of the losses, in order.
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

// Targets are the ids that n rows are to predict, and the memory for the losses of the predictions.
type Targets struct {
	IDs    []int32 // [n] in [0, V)
	Losses Losses  // [n] set for each row
	Scale  float32 // factor of the gradient: 1/tokens for the mean loss of a batch
}

// rowRange views the targets of rows [lo, hi).
func (t Targets) rowRange(lo, hi int) Targets {
	return Targets{t.IDs[lo:hi], t.Losses.RowRange(lo, hi), t.Scale}
}

// LossWorkspace is the workspace of an Output.
type LossWorkspace struct {
	logits mat.Matrix // [chunk × V]
	diff   mat.Matrix // [chunk/2 × V] for RDrop: differences of two rows of logits
}

// Alloc allocates the workspace for n tokens.
func (l Output) Alloc(a *Arena, n int) LossWorkspace {
	return LossWorkspace{logits: a.Matrix(l.chunk(n), l.E.Shape[0])}
}

// chunk returns the number of rows of logits that exist at once, for n tokens.
func (l Output) chunk(n int) int {
	const maxLogits = 1 << 22 // fits the last-level cache and leaves enough rows for fast products
	return min(n, max(32, min(512, maxLogits/l.E.Shape[0])))
}

// Logits sets y [n × V] = x·Eᵀ + b for x [n × d].
func (l Output) Logits(pool *mat.Pool, y, x mat.Matrix) {
	l.Precision.gemm(pool, y, x, l.E.Weights().T(), mat.GemmOptions{Bias: l.Bias.vector()})
}

// Forward sets t.Losses for x [n × d].
func (l Output) Forward(pool *mat.Pool, x mat.Matrix, t Targets, w LossWorkspace) {
	for lo := 0; lo < x.Rows; lo += w.logits.Rows {
		hi := min(lo+w.logits.Rows, x.Rows)
		logits := w.logits.RowRange(0, hi-lo)
		l.Logits(pool, logits, x.RowRange(lo, hi))
		mat.Each(pool, hi-lo, lossGrain, crossEntropyRows{l, logits, t.rowRange(lo, hi), false})
	}
}

// ForwardBackward sets t.Losses for x [n × d], adds t.Scale times the gradients of their sum to
// those of E and the bias, and sets dx [n × d] to t.Scale times that of x.
//
// For a row of logits z with p = softmax(z) and the smoothed target distribution q:
//
//	logits = x·Eᵀ + b
//	loss = -Σ_j q_j·log p_j = log Σ_j e^(z_j) - Σ_j q_j·z_j
//	so   dlogits = p - q   db = Σ_rows dlogits   dE = dlogitsᵀ·x   dx = dlogits·E
//
// A logit of -Inf makes the loss infinite where q_j > 0, and leaves gradients finite, as in
// PyTorch.
func (l Output) ForwardBackward(pool *mat.Pool, dx, x mat.Matrix, t Targets, w LossWorkspace) {
	for lo := 0; lo < x.Rows; lo += w.logits.Rows {
		hi := min(lo+w.logits.Rows, x.Rows)
		logits := w.logits.RowRange(0, hi-lo)
		l.Logits(pool, logits, x.RowRange(lo, hi))
		mat.Each(pool, hi-lo, lossGrain, crossEntropyRows{l, logits, t.rowRange(lo, hi), true})
		dlogits := logits
		l.logitsBackward(pool, dx.RowRange(lo, hi), dlogits, x.RowRange(lo, hi), hi == x.Rows)
	}
}

// logitsBackward sets dx and adds to the gradients of E and the bias, by one chunk of rows. last
// says that it is the microbatch's last chunk.
func (l Output) logitsBackward(pool *mat.Pool, dx, dlogits, x mat.Matrix, last bool) {
	l.Precision.gemm(pool, dx, dlogits, l.E.Weights(), mat.GemmOptions{}) // dx = dlogits·E
	l.E.addChunkInOrder(last, func(lo, hi int) {
		if l.Bias != nil && lo == 0 {
			AddRows(pool, l.Bias.G, dlogits) // db = Σ_rows dlogits
		}
		dE, dlogitsT := l.E.Grad().RowRange(lo, hi), dlogits.T().RowRange(lo, hi)
		l.Precision.gemm(pool, dE, dlogitsT, x, Add.gemm()) // dE = dlogitsᵀ·x
	})
}

// crossEntropyRows sets the losses of rows of logits. With grad it then replaces the logits by
// Scale·dlogits; without, their contents are undefined.
type crossEntropyRows struct {
	Output
	logits  mat.Matrix
	targets Targets
	grad    bool
}

func (t *crossEntropyRows) Range(lo, hi int) {
	q := t.targetDistribution()
	scale := t.targets.Scale
	for i := lo; i < hi; i++ {
		sum := t.loss(i, q)
		if t.grad {
			exp := t.logits.Row(i)                         // p = exp/sum
			mat.ScaleShift(exp, scale/sum, -scale*q.other) // p - q, except at the target
			exp[t.targets.IDs[i]] -= float32(scale * (q.target - q.other))
		}
	}
}

// targetDistribution is q: the probabilities of the target and of each other piece.
type targetDistribution struct{ target, other float32 }

func (l Output) targetDistribution() targetDistribution {
	v := l.E.Shape[0]
	if l.SmoothAll {
		other := l.Smoothing / float32(v)
		return targetDistribution{1 - l.Smoothing + other, other}
	}
	return targetDistribution{1 - l.Smoothing, l.Smoothing / float32(v-1)}
}

// loss sets the loss of row i, replaces its logits z by e^(z-max(z)), and returns their sum.
func (t *crossEntropyRows) loss(i int, q targetDistribution) (sum float32) {
	z, target, losses := t.logits.Row(i), t.targets.IDs[i], t.targets.Losses
	zTarget, zSum, zMax := float64(z[target]), float64(mat.Sum(z)), mat.Max(z)
	losses.kl[i], losses.correct[i] = 0, 0
	if z[target] == zMax {
		losses.correct[i] = 1
	}
	sum = mat.ExpSum(z, z, zMax)
	logSum := float64(zMax) + exact.Log(float64(sum)) // log Σ_j e^(z_j)
	losses.nll[i] = float32(logSum - zTarget)
	zOthers := zSum - zTarget
	if q.other == 0 || math.IsInf(zTarget, -1) {
		zOthers = 0 // not 0·∞ or ∞-∞
	}
	// The outer float64 forbids a fused multiply-add, so that all machines get the same bits.
	qz := float64(float64(q.target) * zTarget)
	losses.sum[i] = float32(logSum - qz - float64(float64(q.other)*zOthers))
	return sum
}
