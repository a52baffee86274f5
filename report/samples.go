package report

// history is a validation sentence and what became of its translation.
type history struct {
	Source, Reference string
	Said              []said // in the order of steps, the best validation's last
}

// said is a translation that one validation or several in a row made.
type said struct {
	From, To int // the steps of the first and the last of them
	Text     string
	Best     bool
}

// mostSaid is how many different translations of a sentence are shown; what lies between is left out evenly.
const mostSaid = 8

// histories follows the sample translations through a run.
func (r *Run) histories() []history {
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
	best := r.best()
	for i := range all {
		h := &all[i]
		if n := len(h.Said); n > mostSaid {
			some := make([]said, mostSaid)
			for i := range some {
				some[i] = h.Said[i*(n-1)/(mostSaid-1)]
			}
			h.Said = some
		}
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

// Sources are different sentences that a run translated at its validations, at most n, those first that are of a length that
// can be looked at whole.
func (r *Run) Sources(n int) []string {
	var short, long []string
	for _, h := range r.histories() {
		if len(h.Source) <= 120 {
			short = append(short, h.Source)
		} else {
			long = append(long, h.Source)
		}
	}
	all := append(short, long...)
	return all[:min(n, len(all))]
}
