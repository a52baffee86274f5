package train

import (
	"math"

	"tfm/train/runlog"
)

// Log writes e to the log of its run and returns the error of w. The lines "start" and "end" are
// the caller's to write, because they hold what a run does not know, such as its settings' names;
// of a Started event nothing is written. A Saving event syncs the log, so that no checkpoint is on
// disk without the lines of its steps. A Stepped event allocates nothing.
func (e Event) Log(w *runlog.Writer) error {
	switch e.Kind {
	case Stepped:
		kl := e.KL
		if kl == 0 {
			kl = math.NaN() // no R-Drop
		}
		return w.Step(runlog.Step{
			Step: e.Step, Epoch: e.Epoch, Elapsed: runlog.Number(e.Elapsed.Seconds()),
			Loss: runlog.Number(e.Loss), NLL: runlog.Number(e.NLL), KL: runlog.Number(kl), Accuracy: runlog.Number(e.Accuracy),
			Rate: runlog.Number(e.Rate), GradNorm: runlog.Number(e.GradNorm),
			SrcPerSec: runlog.Number(e.SrcPerSec), TgtPerSec: runlog.Number(e.TgtPerSec),
		})
	case Validated:
		return w.Valid(e.logValidation())
	case Averaged:
		return w.Averaged(e.logValidation())
	case Skipped:
		return w.Skipped(runlog.Skipped{Step: e.Step, Count: e.Skipped, Why: e.Why.Error()})
	case Saving:
		return w.Sync()
	case Saved:
		return w.Saved(runlog.Saved{Step: e.Step, Path: e.Path})
	}
	return nil
}

func (e Event) logValidation() runlog.Validation {
	v := e.Valid
	bleu := math.NaN()
	if v.HasBLEU {
		bleu = v.BLEU
	}
	line := runlog.Validation{
		Step: e.Step, Elapsed: runlog.Number(e.Elapsed.Seconds()), Loss: runlog.Number(v.Loss), NLL: runlog.Number(v.NLL),
		Accuracy: runlog.Number(v.Accuracy), BLEU: runlog.Number(bleu), Best: e.Best, Took: runlog.Number(v.Took.Seconds()),
		Checkpoints: e.Checkpoints,
	}
	for _, s := range e.Samples {
		line.Samples = append(line.Samples, runlog.Sample{Source: s.Source, Reference: s.Reference, Hypothesis: s.Hypothesis})
	}
	return line
}
