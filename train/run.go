package train

import (
	"context"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// Result is the result of a run.
type Result struct {
	Reason     Reason
	Step       int           // steps done
	Trained    time.Duration // duration of the training, time before a resume included
	Best       Validation    // of the final weights
	Averaged   int           // checkpoints in the mean; 0 if the weights are those of a step
	Position   Position      // of the next batch
	Checkpoint string        // of the last step, for Options.Resume; "" without Options.Dir

	// The languages, for model.File: those of Data, or else of the checkpoint that was resumed.
	SrcLang, TgtLang string

	Decoding decode.Settings // for model.File, from Options.Search
}

// Run trains t on the threads of p, starting from t's weights. The weights and gradients of t must
// be allocated. After each step and validation, and before and after each save, Run calls report,
// if that is not nil, on its goroutine.
//
// Run puts the best weights into t: those of the best validation, with Options.Init also the
// initial ones, or the mean of the last checkpoints if its BLEU or its NLL is better; without
// validations, those of the last step. They depend on t's initial weights, the training pairs and
// the Options that are not "free", but not on the number of threads or on interruptions.
//
// When ctx ends, Run finishes the current step, saves a checkpoint, and returns the Reason
// Interrupted without an error. A run with Options.Resume then continues from Result.Checkpoint.
// Only during the first reading of a Stream, before the first step, is the cause of ctx an error.
//
// Errors are
//   - invalid options, pairs or languages, and a checkpoint that does not match them,
//   - a folder of checkpoints that another run is using,
//   - a loss or gradient that is not finite, with its step and tensor,
//   - a failure of a Stream, after a checkpoint of the last step,
//   - a checkpoint that cannot be written.
//
// The last three name the last good checkpoint.
func Run(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) (Result, error) {
	r, err := newRun(t, p, d, o, report)
	if err != nil {
		return Result{}, err
	}
	defer r.loader.stop()
	if err := r.loader.survey(ctx, o.BatchTokens); err != nil {
		return Result{}, err
	}
	unlock, err := o.lockDir()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if err := r.begin(); err != nil {
		return Result{}, err
	}
	reason, err := r.loop(ctx)
	if err != nil {
		return Result{}, err
	}
	return r.finish(ctx, reason)
}
