package decode

import (
	"math"
	"slices"
)

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
