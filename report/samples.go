package report

import "tfm/train/runlog"

// history is a validation sentence and its translations in the course of a run.
type history struct {
	Source, Reference string
	Said              []said // in the order of steps, and then that of the best validation
}

// said is a translation of one validation, or of several in a row.
type said struct {
	From, To int // the steps of the first and the last of them
	Text     string
	Best     bool
}

// maxSaid is the number of different translations of a sentence that are shown, evenly spread.
const maxSaid = 8

// histories returns the sample translations of a run, sentence by sentence.
func histories(r *runlog.Run) []history {
	var all []history
	place := map[[2]string]int{}
	for _, v := range r.Validations {
		for _, s := range v.Samples {
			key := [2]string{s.Source, s.Reference}
			i, ok := place[key]
			if !ok {
				i = len(all)
				place[key] = i
				all = append(all, history{Source: s.Source, Reference: s.Reference})
			}
			h := &all[i]
			if n := len(h.Said); n > 0 && h.Said[n-1].Text == s.Hypothesis {
				h.Said[n-1].To = v.Step
			} else {
				h.Said = append(h.Said, said{From: v.Step, To: v.Step, Text: s.Hypothesis})
			}
		}
	}
	best := r.Best()
	for i := range all {
		h := &all[i]
		h.Said = evenly(h.Said, maxSaid)
		for _, s := range best.Samples {
			if s.Source == h.Source && s.Reference == h.Reference {
				of := said{From: best.Step, To: best.Step, Text: s.Hypothesis}
				if n := len(h.Said); n > 0 && h.Said[n-1] == of {
					h.Said = h.Said[:n-1] // not twice
				}
				of.Best = true
				h.Said = append(h.Said, of)
				break
			}
		}
	}
	return all
}

// Sources returns at most n different sentences that a run translated at its validations. Those
// whose maps fit on a page come first.
func Sources(r *runlog.Run, n int) []string {
	var short, long []string
	for _, h := range histories(r) {
		if len(h.Source) <= 120 {
			short = append(short, h.Source)
		} else {
			long = append(long, h.Source)
		}
	}
	all := append(short, long...)
	return all[:min(n, len(all))]
}
