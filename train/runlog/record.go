package runlog

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// FileName is the name of a log in the folder of its run's checkpoints.
const FileName = "log.jsonl"

// Start is the record "start": the beginning or a resume of a run.
type Start struct {
	Time       time.Time         `json:"time"`        // UTC, in whole seconds
	Version    string            `json:"version"`     // of the program
	Step       int               `json:"step"`        // step of the checkpoint of a resume; 0 for a new run
	Settings   map[string]string `json:"settings"`    // of the run, by flag name
	TrainPairs int               `json:"train_pairs"` // sentence pairs of an epoch
	ValidPairs int               `json:"valid_pairs"` // sentence pairs of a validation
	Vocabulary int               `json:"vocabulary"`  // pieces of the target vocabulary
	Parameters int               `json:"parameters"`  // scalar parameters of the model
	Threads    int               `json:"threads"`
	Kernels    string            `json:"kernels"` // instruction set of the matrix kernels, such as avx512
}

// Step is the record "step": an update of the weights. SrcPerSec and TgtPerSec count tokens with
// EOS and exclude the time of validations and saves.
type Step struct {
	Step      int    `json:"step"`        // from 1
	Epoch     int    `json:"epoch"`       // of the training data, from 0
	Elapsed   Number `json:"elapsed"`     // seconds of training, time before a resume included
	Loss      Number `json:"loss"`        // nats per target token, label-smoothed
	NLL       Number `json:"nll"`         // nats per target token, without smoothing
	KL        Number `json:"kl,omitzero"` // R-Drop's, nats per target token, not in Loss; else NaN
	Accuracy  Number `json:"accuracy"`    // share of target tokens ranked first, 0 to 1
	Rate      Number `json:"rate"`        // learning rate
	GradNorm  Number `json:"grad_norm"`   // L2 norm of the gradient before clipping
	SrcPerSec Number `json:"src_per_sec"` // source tokens per second
	TgtPerSec Number `json:"tgt_per_sec"` // target tokens per second
}

// Validation is the record "valid", a validation of a step's weights, or "averaged", a validation
// of the mean of checkpoints.
type Validation struct {
	Step        int      `json:"step"`                  // of the weights or the last checkpoint
	Elapsed     Number   `json:"elapsed"`               // as in Step
	Loss        Number   `json:"loss"`                  // as in Step
	NLL         Number   `json:"nll"`                   // as in Step
	Accuracy    Number   `json:"accuracy"`              // as in Step
	BLEU        Number   `json:"bleu,omitzero"`         // 0 to 100; NaN without references
	Best        bool     `json:"best"`                  // the best validation so far
	Took        Number   `json:"took"`                  // seconds
	Checkpoints int      `json:"checkpoints,omitempty"` // averaged checkpoints; 0 in "valid"
	Samples     []Sample `json:"samples,omitempty"`     // the same sentences in every validation
}

// Sample is the translation of a validation sentence.
type Sample struct {
	Source     string `json:"src"`
	Reference  string `json:"ref"`
	Hypothesis string `json:"hyp"`
}

// Cooldown is the record "cooldown": the cooldown of the learning rate begins, and the last step of
// the run is fixed.
type Cooldown struct {
	Step int    `json:"step"` // steps before the cooldown
	End  int    `json:"end"`  // the last step
	Why  string `json:"why"`  // why it begins, and so why the run ends
}

// Saved is the record "saved": a checkpoint is on disk. If the run is killed after the save, the
// record can be missing.
type Saved struct {
	Step int    `json:"step"` // of the weights
	Path string `json:"path"` // of the checkpoint
}

// End is the record "end". A killed run has no end.
type End struct {
	Time     time.Time `json:"time"`                // UTC, in whole seconds
	Reason   string    `json:"reason"`              // why the run ended, or its error
	Step     int       `json:"step"`                // steps done
	BestStep int       `json:"best_step,omitempty"` // of the best validation; 0 without validations
	Model    string    `json:"model,omitempty"`     // model file; "" if none was written
}

// Number is a float64 whose NaN means a missing value. It is written with nine significant digits,
// NaN and the infinities as null.
type Number float64

// IsZero reports whether n is NaN, so that the JSON option omitzero omits missing values.
func (n Number) IsZero() bool { return math.IsNaN(float64(n)) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) { return appendNumber(nil, n), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

func appendNumber(b []byte, n Number) []byte {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', 9, 64)
}
