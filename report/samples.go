package report

import (
	"slices"

	"tfm/train/runlog"
)

// history is a validation sentence and its translations in the course of a run.
type history struct {
	Source, Reference string
	Translations      []translation // by step; the best validation's is last
}

// translation is a translation that consecutive validations have in common.
type translation struct {
	From, To int // steps of the first and the last of these validations
	Text     string
	Best     bool
}

// maxTranslations limits the translations of a sentence, without the best.
const maxTranslations = 8

// histories returns the sample translations of a run, one history for each sentence.
func histories(r *runlog.Run) []history {
	var all []history
	for _, v := range r.Validations {
		for _, s := range v.Samples {
			i := slices.IndexFunc(all, func(h history) bool { return h.Source == s.Source && h.Reference == s.Reference })
			if i < 0 {
				i = len(all)
				all = append(all, history{Source: s.Source, Reference: s.Reference})
			}
			h := &all[i]
			if n := len(h.Translations); n > 0 && h.Translations[n-1].Text == s.Hypothesis {
				h.Translations[n-1].To = v.Step
			} else {
				h.Translations = append(h.Translations, translation{From: v.Step, To: v.Step, Text: s.Hypothesis})
			}
		}
	}
	best := r.Best()
	for i := range all {
		h := &all[i]
		h.Translations = evenly(h.Translations, maxTranslations)
		for _, s := range best.Samples {
			if s.Source == h.Source && s.Reference == h.Reference {
				t := translation{From: best.Step, To: best.Step, Text: s.Hypothesis}
				if n := len(h.Translations); n > 0 && h.Translations[n-1] == t {
					h.Translations = h.Translations[:n-1] // avoids a duplicate
				}
				t.Best = true
				h.Translations = append(h.Translations, t)
				break
			}
		}
	}
	return all
}

// Sources returns the sources of up to n samples, those short enough for attention maps first.
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
