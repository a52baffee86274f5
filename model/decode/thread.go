package decode

import "tfm/mat"

// thread takes some of the sources through the encoder, or some of the rows of a step through the
// decoder.
type thread struct {
	scratch scratch
	step    step
	output  outputProjection
}

func newThread(w *Weights, sources *sourceSet, limits *listLimits) *thread {
	k := new(thread)
	k.step = step{sources: sources, weights: w, scratch: &k.scratch}
	k.output = outputProjection{step: &k.step, limits: limits}
	return k
}

// add encodes sources and stores their keys and values. The threads of pool divide each product.
func (k *thread) add(pool *mat.Pool, handles []int32, sources [][]int32) {
	k.scratch.pool = pool
	memory := k.step.weights.encode(&k.scratch, sources)
	for i := range k.step.weights.decoder {
		k.step.weights.decoder[i].kv.mulRounded(pool, k.scratch.act.kv, memory, &k.scratch.rounded)
		mat.Each(pool, len(sources), 1, storeSources{&k.step, i, handles})
	}
}

// run computes rows and sets their logits.
func (k *thread) run(pool *mat.Pool, rows stepRows, logits mat.Matrix, bounds bool) {
	k.scratch.pool = pool
	x := k.step.begin(rows)
	x = k.step.weights.decode(&k.scratch, &k.step, x)
	k.output.project(logits, x, bounds)
}

// Limits of what one thread computes alone. Fewer rows, on which products are slow, are left to all
// threads together.
const (
	minThreadRows   = 16  // of a step, half with SSRUs, whose weights are few
	minThreadTokens = 64  // of sources
	maxThreadTokens = 256 // of sources, half with weights in int8; activations stay in the cache
)

// addChunks is the parallel loop over chunks of added sources.
type addChunks struct {
	*State
	handles []int32
	sources [][]int32
}

func (t *addChunks) Range(lo, hi int) {
	k := <-t.free
	defer func() { t.free <- k }()
	for i := lo; i < hi; i++ {
		a, b := t.chunks[i], t.chunks[i+1]
		k.add(nil, t.handles[a:b], t.sources[a:b])
	}
}

// stepShares is the parallel loop over the shares of a step. Share i is that of thread i.
type stepShares struct {
	*State
	logits mat.Matrix
	bounds bool
}

func (t *stepShares) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		a, b := t.shares[i], t.shares[i+1]
		t.threads[i].run(nil, t.begin.slice(a, b), t.logits.RowRange(a, b), t.bounds)
	}
}
