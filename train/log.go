package train

import (
	"math"

	"tfm/train/runlog"
)

// Log writes the record of e to w and returns w's error. The caller writes the records "start" and
// "end", because a run does not know their contents, such as the names of flags; Log of a Started
// event does nothing. A Saving event syncs the log, so that no checkpoint is on disk without the
// records of its steps. A Stepped event allocates nothing.
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
	case CooldownBegan:
		return w.Cooldown(runlog.Cooldown{Step: e.Step, End: e.Cooldown.End, Why: string(e.EndReason)})
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
	return runlog.Validation{
		Step: e.Step, Elapsed: runlog.Number(e.Elapsed.Seconds()), Loss: runlog.Number(v.Loss), NLL: runlog.Number(v.NLL),
		Accuracy: runlog.Number(v.Accuracy), BLEU: runlog.Number(bleu), Best: e.Best, Took: runlog.Number(v.Took.Seconds()),
		Checkpoints: e.Checkpoints, Samples: e.Samples,
	}
}
