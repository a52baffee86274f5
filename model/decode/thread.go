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
