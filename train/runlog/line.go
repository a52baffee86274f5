package runlog

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// FileName is the name of a log in the folder of its run's checkpoints.
const FileName = "log.jsonl"

// Start is the line "start": the beginning of a run, or of a resumed run.
type Start struct {
	Time       time.Time `json:"time"`        // UTC, in whole seconds
	Version    string    `json:"version"`     // of the program
	Step       int       `json:"step"`        // steps made before: 0, or the step of the checkpoint that the run is resumed from
	Skipped    int       `json:"skipped"`     // of these, steps whose update was dropped
	Settings   Settings  `json:"settings"`    // of the run, by the names of the command line's flags
	TrainPairs int       `json:"train_pairs"` // sentence pairs of an epoch
	ValidPairs int       `json:"valid_pairs"` // sentence pairs of a validation
	Vocabulary int       `json:"vocabulary"`  // pieces of the target vocabulary
	Parameters int       `json:"parameters"`  // numbers of the model
	Threads    int       `json:"threads"`
	Kernels    string    `json:"kernels"` // the instruction set of the matrix kernels, such as avx512
}

// Step is the line "step": an update of the weights.
type Step struct {
	Step      int    `json:"step"`        // from 1
	Epoch     int    `json:"epoch"`       // of the training data, from 0
	Elapsed   Number `json:"elapsed"`     // seconds of training, before a resume too
	Loss      Number `json:"loss"`        // nats a target token, label-smoothed
	NLL       Number `json:"nll"`         // nats a target token, without smoothing
	KL        Number `json:"kl,omitzero"` // nats a target token, between R-Drop's copies, not in Loss; NaN without R-Drop
	Accuracy  Number `json:"accuracy"`    // share of the target tokens that were the likeliest, 0 to 1
	Rate      Number `json:"rate"`        // learning rate
	GradNorm  Number `json:"grad_norm"`   // Euclidean norm of the gradient before clipping
	SrcPerSec Number `json:"src_per_sec"` // source tokens a second, with end marks, without validations and saves
	TgtPerSec Number `json:"tgt_per_sec"` // target tokens likewise
}

// Validation is the line "valid", a validation of a step's weights, or "averaged", one of the mean
// of checkpoints.
type Validation struct {
	Step        int      `json:"step"`                  // of the weights, or of the last of the checkpoints
	Elapsed     Number   `json:"elapsed"`               // seconds of training, before a resume too
	Loss        Number   `json:"loss"`                  // nats a target token, label-smoothed
	NLL         Number   `json:"nll"`                   // nats a target token, without smoothing
	Accuracy    Number   `json:"accuracy"`              // share of the target tokens that were the likeliest, 0 to 1
	BLEU        Number   `json:"bleu,omitzero"`         // 0 to 100; NaN without references
	Best        bool     `json:"best"`                  // the best validation so far
	Took        Number   `json:"took"`                  // seconds
	Checkpoints int      `json:"checkpoints,omitempty"` // of "averaged": checkpoints in the mean
	Samples     []Sample `json:"samples,omitempty"`     // some of the translations, of the same sentences each time
}

// Sample is the translation of one validation sentence.
type Sample struct {
	Source     string `json:"src"`
	Reference  string `json:"ref"`
	Hypothesis string `json:"hyp"`
}

// Skipped is the line "skipped": a step whose update was dropped, instead of "step".
type Skipped struct {
	Step  int    `json:"step"`            // from 1
	Count int    `json:"count,omitempty"` // updates dropped so far, this one included; 0 in older logs
	Why   string `json:"why"`             // the number that was not finite
}

// Saved is the line "saved": a checkpoint is on disk. A run that is killed between the two leaves
// the checkpoint without its line.
type Saved struct {
	Step int    `json:"step"` // of the weights
	Path string `json:"path"` // of the checkpoint
}

// End is the line "end". A run that was killed has none.
type End struct {
	Time     time.Time `json:"time"`                // UTC, in whole seconds
	Reason   string    `json:"reason"`              // why the run ended, or the error that ended it
	Step     int       `json:"step"`                // steps made
	BestStep int       `json:"best_step,omitempty"` // step of the best validation, 0 without one
	Model    string    `json:"model,omitempty"`     // the model file, "" if none was written
}

// Number is a float64 that has NaN for a number that is missing. JSON gets nine significant digits,
// and null for NaN and the infinities. What is read may also be a string, "nan", "inf" or "-inf",
// as other programs write.
type Number float64

// IsZero reports whether n is NaN, so that a field with the option omitzero is left out where there
// is no number.
func (n Number) IsZero() bool { return math.IsNaN(float64(n)) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) { return appendNumber(nil, n), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	switch strings.ToLower(strings.Trim(string(data), `"`)) {
	case "null", "nan":
		*n = Number(math.NaN())
	case "inf", "+inf", "infinity":
		*n = Number(math.Inf(1))
	case "-inf", "-infinity":
		*n = Number(math.Inf(-1))
	default:
		return json.Unmarshal(data, (*float64)(n))
	}
	return nil
}

func appendNumber(b []byte, n Number) []byte {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', 9, 64)
}

// Settings are the values of settings by name.
type Settings map[string]string

// UnmarshalJSON implements json.Unmarshaler. A value that is no string is kept as the JSON that it
// is.
func (s *Settings) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*s = make(Settings, len(raw))
	for name, value := range raw {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		(*s)[name] = text
	}
	return nil
}
