package decode

// certain returns the first tokens of the translation of q that no further step can change: those
// that all live hypotheses and the best finished one have in common. The translation can only be
// the best finished one or continue a live one.
func (q *sourceSearch) certain() []int32 {
	// Hypotheses that begin with the same tokens share backpointers. a is the last one that all
	// have in common, n the number of tokens up to it.
	a, n := q.live[0].tail, q.tokens
	join := func(b int32, m int) {
		for ; n > m; n-- {
			a = q.backpointers[a].previous
		}
		for ; m > n; m-- {
			b = q.backpointers[b].previous
		}
		for ; a != b; n-- {
			a, b = q.backpointers[a].previous, q.backpointers[b].previous
		}
	}
	for _, h := range q.live[1:] {
		join(h.tail, q.tokens)
	}
	if len(q.nBest) > 0 {
		m := 0
		tail := q.backpointers[q.nBest[0].tail].previous // without EOS
		for i := tail; i >= 0; i = q.backpointers[i].previous {
			m++
		}
		join(tail, m)
	}
	return appendTokens(nil, q.backpointers, a)
}

// report passes the tokens that are new to the request.
func (q *sourceSearch) report(tokens []int32) {
	for ; q.reported < len(tokens); q.reported++ {
		q.request.token(q.index, tokens[q.reported])
	}
}
