package train

import "time"

// Event is what a run has just done. There is one after every step; the receiver chooses how often
// to show it.
type Event struct {
	Kind    Kind
	Step    int // steps made
	Skipped int // steps whose update was dropped: see Options.OnNaN
	Steps   int // steps to make, 0 without a limit
	Epoch   int // of the training data, from 0
	Elapsed time.Duration
	Left    time.Duration // estimated from the last steps and validations; 0 if it is not known

	// Stepped
	Loss      float64 // nats a target token, label-smoothed
	NLL       float64 // nats a target token, without smoothing
	KL        float64 // of R-Drop, not in Loss: ½(KL(p₁‖p₂) + KL(p₂‖p₁)), nats a target token
	Accuracy  float64 // share of target tokens that were the likeliest, 0 to 1
	Rate      float64 // learning rate
	GradNorm  float64 // before clipping
	SrcPerSec float64 // source tokens a second with EOS, over about the last 20 steps
	TgtPerSec float64 // target tokens likewise, both without validations and saves

	// Skipped
	Why error // what is not a finite number

	// Validated, Averaged
	Valid       Validation
	Best        bool      // so far
	Samples     []Sample  // of the same sentences each time; none without references
	Entropies   []Entropy // of each attention head, if Options.Entropies asks for them
	Checkpoints int       // of Averaged: checkpoints in the mean

	// Started, Saving, Saved
	Path string // the checkpoint; "" if a run started without one

	// Started
	Pairs          int   // training pairs of an epoch
	TooLong, Empty int   // training pairs left out: a side over Options.MaxLen, or an empty one
	ValidPairs     int   // pairs of a validation
	Warning        error // something that the run can do without, or nil
}

// Sample is the translation of a validation sentence.
type Sample struct{ Source, Reference, Hypothesis string }

// Kind is the kind of an Event.
type Kind int

const (
	Started   Kind = iota // before the first step
	Stepped               // after every step
	Validated             // after a validation
	Saved                 // after a checkpoint has been written
	Averaged              // at the end, if Options.Average asks for it
	Skipped               // instead of Stepped, after a step whose update was dropped

	// Saving comes before a checkpoint is written. What must not be missing when the checkpoint is
	// on disk, such as the log of its steps, the receiver writes before it returns.
	Saving
)

// TokensPerSec returns the source and target tokens a second together.
func (e Event) TokensPerSec() float64 { return e.SrcPerSec + e.TgtPerSec }
