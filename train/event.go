package train

import (
	"slices"
	"time"
)

// Event is a progress report of a run. There is at least one per step.
type Event struct {
	Kind    Kind
	Step    int // steps done
	Steps   int // last step of the run, or of the round in Work; 0 if it is unknown
	Epoch   int // of the training data, from 0
	Elapsed time.Duration
	Left    time.Duration // estimate of the remaining time; 0 if it is unknown

	// Stepped
	Loss      float64 // nats per target token, label-smoothed
	NLL       float64 // nats per target token, without smoothing
	KL        float64 // of R-Drop, not in Loss: ½(KL(p₁‖p₂) + KL(p₂‖p₁)), nats per target token
	Accuracy  float64 // share of target tokens that the model ranks first, 0 to 1
	Rate      float64 // learning rate
	GradNorm  float64 // L2 norm of the gradient before clipping
	SrcPerSec float64 // source tokens per second with EOS, without validations and saves
	TgtPerSec float64 // target tokens per second, likewise, over about the last 20 steps

	// Validated, Averaged
	Valid       Validation
	Best        bool        // the best validation so far
	Samples     []Sample    // the same sentences in every validation; none without references
	Distinct    int         // different hypotheses of the validation; 0 without references
	Parts       []ValidPart // of Data.ValidParts; none without references
	Entropies   []Entropy   // of each attention head, with Options.Entropies
	Checkpoints int         // averaged checkpoints, for Averaged

	Workers int // whose parts were merged, for Merged

	// CooldownBegan
	Cooldown  Cooldown
	EndReason Reason // why it began, and so why the run ends

	// Started, Saving, Saved
	Path string // the checkpoint; "" for a run that starts without one

	// Started
	Pairs          int   // training pairs of an epoch
	TooLong, Empty int   // training pairs skipped for a side over Options.MaxLen, or an empty side
	SrcTokens      int   // source tokens of an epoch, with EOS, without skipped pairs
	TgtTokens      int   // target tokens, likewise
	ValidPairs     int   // pairs of a validation
	Warning        error // a problem that does not stop the run, or nil

	// UnigramNLL is the NLL on the training pairs of a model that knows only the frequencies of
	// the target pieces: the entropy of these frequencies in nats per token.
	UnigramNLL float64
}

// Reason is the reason for the end of a run.
type Reason string

const (
	AllSteps      Reason = "all steps are done"
	OutOfTime     Reason = "the time is up"
	NoImprovement Reason = "the validation stopped improving"
	Interrupted   Reason = "interrupted"
)

// Kind is the kind of an Event.
type Kind int

// The kinds of events.
const (
	Started   Kind = iota // before the first step
	Stepped               // after every step
	Validated             // after a validation
	Saved                 // after a checkpoint was written
	Averaged              // at the end of a run, with Options.Average

	// Saving comes before a checkpoint is written. The receiver must write everything that
	// belongs to the checkpoint, such as the log of its steps, before it returns.
	Saving

	CooldownBegan // before the first step of the cooldown
	Merged        // after the mean of a round, see Rounds
)

// TokensPerSec returns the source and target tokens per second together.
func (e Event) TokensPerSec() float64 { return e.SrcPerSec + e.TgtPerSec }

// event adds the hypotheses and entropies of the last validation to e.
func (v *validator) event(e Event) Event {
	e.Samples, e.Distinct, e.Parts = slices.Clone(v.samples), len(v.distinct), slices.Clone(v.parts)
	if v.entropies != nil {
		e.Entropies = v.entropies.list
	}
	return e
}
