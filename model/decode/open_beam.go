package decode

// openBeam is beam without a limit of finished hypotheses, so that Options.Patience is not used:
// the search of Hugging Face's transformers with early_stopping "never", or with heuristic, false.
// Hypotheses that are live at the length limit compete with finished ones.
//
// The heuristic ends the search when no live hypothesis would enter the list if it ended now. With
// a length penalty that grows with the length a longer one may still have a higher score.
type openBeam struct {
	beam
	heuristic bool
}

func (k openBeam) isDone(q *sourceSearch) bool {
	if !k.heuristic {
		return q.isDecided()
	}
	return len(q.nBest) == k.width && q.nBest[k.width-1].score >= q.options.score(q.live[0].logP, q.tokens)
}

func (k openBeam) finishTruncated(q *sourceSearch) { q.finishLive() }
