package decode

import (
	"math"
	"slices"
)

// finishedHyp is a finished hypothesis.
type finishedHyp struct {
	score     float64
	tail      int32 // node of EOS or of the last token
	truncated bool
}

// search is the search for the translations of one source.
type search struct {
	request   *request
	index     int    // of the source in the request
	handle    int32  // of the source in the model
	number    uint64 // of the source, see Options.First
	maxTokens int    // length limit, EOS counted
	keepsLast bool   // when it is truncated, see Options.keepsLast
	tree      *tree  // of the model

	begin []int32 // see Options.Begins
	begun int     // tokens of begin that the live hypotheses have

	tokens int // length of every live hypothesis
	live   []liveHyp
	tails  []int32           // last node of each live hypothesis
	states []constraintState // of each live hypothesis, with a constraint

	paused       bool            // has no rows in the step
	firstRow     int             // of live, in the step
	alternatives [][]Alternative // of each node, with Options.Alternatives
	finished     int             // number of finished hypotheses
	reported     int             // tokens that were passed to request.token
	nBest        []finishedHyp   // sorted by descending score
}

// reset makes q the search for source index of a request, with the memory of an earlier one. handle
// is that of the source in the model. start must be called next.
func (q *search) reset(r *request, index int, handle int32, maxTokens int) {
	*q = search{
		request: r, index: index, handle: handle, number: r.options.First + uint64(index),
		maxTokens: maxTokens, keepsLast: r.options.keepsLast(len(r.sources[index]), maxTokens), begin: r.options.Begins.of(index),
		live: q.live[:0], tails: q.tails[:0], states: q.states[:0], alternatives: q.alternatives[:0], nBest: q.nBest[:0],
	}
}

// start sets the initial hypotheses, as roots of t.
func (q *search) start(t *tree) {
	q.tree, t.begin = t, int32(len(q.begin))
	for i := range q.request.selection.starts() {
		q.live, q.tails, q.states = append(q.live, liveHyp{Start: int32(i)}), append(q.tails, t.addRoot()), append(q.states, constraintState{})
	}
}

// isBeginning reports whether the next token of the live hypotheses is given.
func (q *search) isBeginning() bool { return q.begun < len(q.begin) }

// extendBegin adds the next token of the begin to the live hypotheses.
func (q *search) extendBegin() {
	for i, tail := range q.tails {
		q.tails[i] = q.tree.add(tail, q.begin[q.begun], 0)
	}
	q.begun++
}

// setPartial makes p live hypothesis i.
func (q *search) setPartial(p *partial, i int) {
	c := q.request.constraint
	p.constraint, p.tree, p.tail, p.isListed, p.only = c, q.tree, q.tails[i], false, nil
	p.remaining = q.maxTokens - 2 - q.tokens
	if q.keepsLast {
		p.remaining++
	}
	if c == nil {
		return
	}
	p.state, p.prefix, p.mayEnd = q.states[i], c.prefixOf(q.index), q.tokens >= min(c.minTokens, q.maxTokens-1)
	if p.remaining >= 0 {
		p.setOnly()
	}
}

// advance replaces the live hypotheses by those that have one token more. rows are theirs.
func (q *search) advance(w *advanceWorkspace, rows []row) {
	q.tokens++
	w.collect(q, rows)
	q.request.selection.selectFrom(w.candidates, q.finished, &w.selected)
	for _, c := range w.finish {
		q.finished++
		q.list(finishedHyp{q.score(c.LogP), q.addNode(rows, c), false})
	}
	w.live, w.tails, w.states = w.live[:0], w.tails[:0], w.states[:0]
	for _, c := range w.extend {
		w.live, w.tails = append(w.live, liveHyp{c.LogP, q.live[c.Parent].Start}), append(w.tails, q.addNode(rows, c))
		if q.request.constraint != nil {
			w.states = append(w.states, q.request.constraint.next(q.index, q.states[c.Parent], c.Token))
		}
	}
	q.live, q.tails = append(q.live[:0], w.live...), append(q.tails[:0], w.tails...)
	q.states = append(q.states[:0], w.states...)
}

// advanceWorkspace is the workspace of advance for one search after another.
type advanceWorkspace struct {
	selected
	candidates []candidate
	live       []liveHyp // of the next step, as are the following
	tails      []int32
	states     []constraintState
}

// collect sets w.candidates to those of all live hypotheses of q.
func (w *advanceWorkspace) collect(q *search, rows []row) {
	w.candidates = w.candidates[:0]
	for i, h := range q.live {
		for _, c := range rows[i].candidates {
			c.LogP, c.Parent = c.LogP+h.LogP, int32(i)
			w.candidates = append(w.candidates, c)
		}
	}
}

// addNode adds the token of c to the tree, with the alternatives of its row, and returns its node.
func (q *search) addNode(rows []row, c candidate) int32 {
	node := q.tree.add(q.tails[c.Parent], c.Token, c.LogP)
	if q.request.options.Alternatives > 0 {
		list := []Alternative{}
		for _, a := range rows[c.Parent].alternatives {
			list = append(list, Alternative{a.Token, a.LogP})
		}
		roots := int(node) - len(q.alternatives) // those before the first node, which have none
		q.alternatives = append(append(q.alternatives, make([][]Alternative, roots)...), list)
	}
	return node
}

// progress returns the progress of the search.
//
// Let ℓ ≤ 0 be the log-probability of live[0], the largest of all live hypotheses, n the number
// of their tokens, N the length limit and lp > 0 the length penalty, which does not fall with the
// length. A live hypothesis that is finished after n' tokens, n < n' ≤ N, has
//
//	score = (its log-probability)/lp(n') ≤ ℓ/lp(n') ≤ ℓ/lp(N) = Bound
//
// because the log-probability of a further token is 0 or less (normalize subtracts from a logit
// the maximum plus the logarithm of a sum that contains exp(0) = 1) and ℓ/lp is negative or zero.
// live[0] has this score if the model continues it with tokens of probability 1 up to the limit. So
// the bound is the smallest that does not depend on the model. list prefers the earlier of equal
// scores, so a live hypothesis needs a higher one than the last of a full list.
func (q *search) progress() progress {
	p := progress{finished: q.finished, isFull: len(q.nBest) == q.request.listLen(), last: math.Inf(-1)}
	if len(q.nBest) > 0 {
		p.last = q.nBest[len(q.nBest)-1].score
	}
	if p.isFull && len(q.live) > 0 { // otherwise no selection needs them
		p.now = q.score(q.live[0].LogP)
		p.bound = q.request.options.score(q.live[0].LogP, len(q.begin)+q.maxTokens)
	}
	return p
}

// isDone reports whether the search has ended.
func (q *search) isDone() bool {
	return q.tokens >= q.maxTokens || len(q.live) == 0 || q.request.selection.ends(q.progress())
}

// list inserts h into nBest if its score is high enough; of equal scores the first wins. It
// ignores a score of NaN or -Inf.
func (q *search) list(h finishedHyp) {
	if !(h.score > math.Inf(-1)) {
		return
	}
	i := len(q.nBest)
	for ; i > 0 && q.nBest[i-1].score < h.score; i-- {
	}
	if len(q.nBest) == q.request.listLen() {
		if i == len(q.nBest) {
			return
		}
		q.nBest = q.nBest[:len(q.nBest)-1]
	}
	q.nBest = slices.Insert(q.nBest, i, h)
}

// score returns the score of a hypothesis with log-probability logP that ends now.
func (q *search) score(logP float64) float64 {
	return q.request.options.score(logP, len(q.begin)+q.tokens)
}

// results returns the n-best list of a search that is done. It has at least one Hypothesis.
func (q *search) results() []Hypothesis {
	if len(q.nBest) == 0 || q.request.selection.countsTruncated() {
		q.listLive()
	}
	q.nBest = q.nBest[:min(len(q.nBest), q.request.options.nBest())]
	list := make([]Hypothesis, 0, max(1, len(q.nBest)))
	for _, f := range q.nBest {
		last := q.tree.nodes[f.tail].parent
		if f.truncated && q.keepsLast {
			last = f.tail
		}
		h := Hypothesis{Score: f.score, Truncated: f.truncated, Tokens: q.tree.appendTokens(nil, last)}
		q.addDetails(&h, f.tail)
		list = append(list, h)
	}
	if len(list) == 0 { // all scores were NaN or -Inf
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}

// listLive lists the live hypotheses as truncated ones. Those that differ only in their last token
// count once, unless it is kept.
func (q *search) listLive() {
	parent := func(tail int32) int32 { return q.tree.nodes[tail].parent }
	for i, tail := range q.tails {
		equal := func(other int32) bool { return parent(other) == parent(tail) }
		if q.keepsLast || q.request.selection.end == independent || !slices.ContainsFunc(q.tails[:i], equal) {
			q.list(finishedHyp{q.score(q.live[i].LogP), tail, true})
		}
	}
}

// addDetails sets the fields of h that Options.TokenScores and Alternatives ask for. tail is the
// node of EOS or of the last token.
func (q *search) addDetails(h *Hypothesis, tail int32) {
	o, nodes := &q.request.options, q.tree.nodes
	for i := tail; q.tree.isToken(i); i = nodes[i].parent {
		if o.TokenScores {
			h.TokenScores = append(h.TokenScores, nodes[i].logP-nodes[nodes[i].parent].logP)
		}
		if o.Alternatives > 0 {
			h.Alternatives = append(h.Alternatives, slices.Clone(q.alternatives[i]))
		}
	}
	slices.Reverse(h.TokenScores)
	slices.Reverse(h.Alternatives)
}

// certain returns the first tokens of the translation that no further step can change: those that
// all live hypotheses and the best finished one have in common. The translation can only be the
// best finished one or continue a live one.
func (q *search) certain() []int32 {
	node := q.tails[0]
	for _, tail := range q.tails[1:] {
		node = q.tree.common(node, tail)
	}
	if len(q.nBest) > 0 {
		node = q.tree.common(node, q.tree.nodes[q.nBest[0].tail].parent) // without EOS
	}
	return q.tree.appendTokens(nil, node)
}

// report passes the tokens that are new to the request.
func (q *search) report(tokens []int32) {
	for ; q.reported < len(tokens); q.reported++ {
		q.request.token(q.index, tokens[q.reported])
	}
}
