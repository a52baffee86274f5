package train

import (
	"time"

	"tfm/mat"
)

// Event tells what a run has just done. It is passed by value, one after every step: how often to print is the receiver's
// choice.
type Event struct {
	Kind    Kind
	Step    int // steps made
	Skipped int // of these, whose update was dropped: see Options.OnNaN
	Steps   int // steps to make, 0 if that has no limit
	Epoch   int // of the training data, from 0
	Elapsed time.Duration
	Left    time.Duration // estimated from the last steps and validations; 0 if it cannot be known

	// Stepped
	Loss      float64 // mean label-smoothed loss of a target token in this step, in nats: what is trained on
	NLL       float64 // the same without smoothing
	KL        float64 // with R-Drop: mean of ½(KL(p₁‖p₂) + KL(p₂‖p₁)) of a token, which Options.RDrop/2 times is added to Loss
	Accuracy  float64 // share of target tokens that were the likeliest, 0 to 1
	Rate      float64 // learning rate
	GradNorm  float64 // before clipping
	SrcPerSec float64 // source tokens a second with EOS, over about the last 20 steps, without validations and saves
	TgtPerSec float64 // target tokens likewise

	// Skipped
	Why error // what is not a finite number

	// Validated, Averaged
	Valid       Validation
	Best        bool      // it is the best so far
	Samples     []Sample  // some of its translations, of the same sentences each time; none without references
	Entropies   []Entropy // of each attention head, if Options.Entropies asks for them
	Checkpoints int       // Averaged: how many there are in the mean

	// Started, Saving, Saved
	Path string // the checkpoint; "" if a run started without one

	// Started
	Pairs, TooLong, Empty int   // training pairs used, and left out for a side over Options.MaxLen or an empty one
	ValidPairs            int   // that it is validated on
	Warning               error // something that the run can do without, or nil
}

// Sample is a validation sentence and what the model makes of it.
type Sample struct{ Source, Reference, Translation string }

// Kind is what an Event tells of.
type Kind int

const (
	Started   Kind = iota // before the first step
	Stepped               // after every step
	Validated             // after a validation
	Saved                 // after a checkpoint has been written
	Averaged              // at the end, if Options.Average asks for it
	Skipped               // after a step whose update was dropped, instead of Stepped: see Options.OnNaN

	// Saving comes before a checkpoint is written. What must not be missing once the checkpoint is on disk, such as the log
	// of its steps, is to be on disk when the receiver returns.
	Saving
)

// TokensPerSec is source and target tokens together.
func (e Event) TokensPerSec() float64 { return e.SrcPerSec + e.TgtPerSec }

// Perplexity is e^NLL, of a target token in this step.
func (e Event) Perplexity() float64 { return mat.Exp(e.NLL) }
