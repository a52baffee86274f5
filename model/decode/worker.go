package decode

import "tfm/mat"

// worker takes some of the sources through the encoder, or some of the rows of a step through the
// decoder.
type worker struct {
	stack  stack
	newest newestTokens
	output outputProjection
}

func newWorker(w *Weights, sources *sourceSet, limits *listLimits) *worker {
	k := &worker{stack: stack{w: w}}
	k.newest = newestTokens{stack: &k.stack, sourceSet: sources}
	k.output = outputProjection{newestTokens: &k.newest, listLimits: limits}
	for i := range w.decoder {
		var l layerState = &keyValues{newestTokens: &k.newest, decoderLayer: &w.decoder[i], layer: i}
		if w.recurrent() {
			l = &ssru{newestTokens: &k.newest, SSRU: w.model.Decoder[i].SSRU, maps: w.decoder[i].maps, layer: i}
		}
		k.newest.states = append(k.newest.states, l)
	}
	return k
}

// add encodes sources and stores their keys and values. The threads of pool divide each product.
func (k *worker) add(pool *mat.Pool, handles []int32, sources [][]int32) {
	k.stack.pool = pool
	memory := k.stack.encode(sources)
	for i := range k.stack.w.decoder {
		k.stack.w.decoder[i].kv.mulRounded(pool, k.stack.act.kv, memory, &k.stack.rounded)
		mat.Each(pool, len(sources), 1, storeSources{&k.newest, i, handles})
	}
}

// step computes rows and sets their logits.
func (k *worker) step(pool *mat.Pool, rows stepRows, logits mat.Matrix, bounds bool) {
	k.stack.pool = pool
	k.newest.begin(rows)
	k.stack.act.logits = logits
	k.stack.decode(&k.newest)
	k.output.project(bounds)
}

// Limits of what one worker computes alone. Fewer rows, on which products are slow, are left to all
// threads together.
const (
	minWorkerRows   = 16  // of a step, half with SSRUs, whose weights are few
	minWorkerTokens = 64  // of sources
	maxWorkerTokens = 256 // of sources, half with weights in int8; activations stay in the cache
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

// stepShares is the parallel loop over the shares of a step. Share i is that of worker i.
type stepShares struct {
	*State
	logits mat.Matrix
	bounds bool
}

func (t *stepShares) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		a, b := t.shares[i], t.shares[i+1]
		t.workers[i].step(nil, t.begin.slice(a, b), t.logits.RowRange(a, b), t.bounds)
	}
}
