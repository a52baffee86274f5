package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tfm/internal/strict"
	"tfm/layer"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text/score"
)

// A checkpoint is a model file, so that it translates too, with the optimizer's moments as further
// tensors, named like the weights after a prefix, and Options and State as JSON in the metadata. It
// is all that a run needs to go on as if it had never stopped. With Options.EMA the weights are the
// moving averages, and "raw." is the prefix of those that training goes on with.
const (
	keyOptions = "train.options"
	keyState   = "train.state"
)

// State is where a run stands between two steps.
type State struct {
	Step      int           `json:"step"`      // steps made
	Position  Position      `json:"position"`  // of the next batch
	Trained   time.Duration `json:"trained"`   // validations and saves included
	Validated int           `json:"validated"` // the step of the last validation, 0 if there was none
	Best      Validation    `json:"best"`      // Step 0 if there was none
	SinceBest int           `json:"since_best"`

	Skipped      int `json:"skipped"`        // steps whose update was dropped; the optimizer has made the others
	SkippedInRow int `json:"skipped_in_row"` // the last ones of them, with none between

	// OutOfTime is the Options.Time that ended the run. A run that is resumed with no more of it
	// makes no further steps, so that it ends in the same weights; how long a step and a save take,
	// which the end of the time depends on, it would measure anew.
	OutOfTime time.Duration `json:"out_of_time,omitempty"`

	Data     string `json:"data"`     // fingerprint of the training pairs
	Products string `json:"products"` // layer.Precision.InForce, on which the weights depend
}

// Checkpoint is an open checkpoint, whose file has all weights of Config. Close it after use. Safe
// for concurrent reading. model.LoadTokenizers reads the tokenizers of the same file.
type Checkpoint struct {
	Path             string
	Config           model.Config
	SrcLang, TgtLang string // as in model.File
	Options          Options
	State            State

	file *safetensors.File
}

// OpenCheckpoint opens a checkpoint and verifies its checksum. Errors name the file.
func OpenCheckpoint(path string) (*Checkpoint, error) {
	c, err := openModel(path)
	if err != nil {
		return nil, err
	}
	if c.Options, c.State, err = decodeRun(c.file.Metadata()); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// openModel opens and verifies a model file, which need not be a checkpoint.
func openModel(path string) (*Checkpoint, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	if err := file.Verify(); err != nil {
		file.Close()
		return nil, err
	}
	c := &Checkpoint{Path: path, file: file}
	if err := c.readModel(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readModel decodes what every model file says of its model, and checks that its weights are there
// before anyone allocates memory for them.
func (c *Checkpoint) readModel() error {
	h, err := model.DecodeHeader(c.file.Metadata())
	if err != nil {
		return err
	}
	c.Config, c.SrcLang, c.TgtLang = h.Config, h.SrcLang, h.TgtLang
	t, err := model.New(h.Config)
	if err != nil {
		return err
	}
	_, err = model.ParamTensors(c.file, t.Params, "")
	return err
}

// decodeRun decodes the parts of the metadata that a checkpoint has and a model does not.
func decodeRun(meta map[string]string) (o Options, s State, err error) {
	// Checkpoints of earlier versions lack what was not yet a choice.
	o.Optimizer, o.OnNaN, o.Tokenize = OptimizerAdam, OnNaNStop, score.Tok13a
	for _, part := range []struct {
		key   string
		value any
	}{{keyOptions, &o}, {keyState, &s}} {
		text, ok := meta[part.key]
		if !ok {
			return o, s, fmt.Errorf("not a checkpoint: its metadata has no %s", part.key)
		}
		if err := strict.Unmarshal([]byte(text), part.value); err != nil {
			return o, s, fmt.Errorf("%s in the metadata: %w", part.key, err)
		}
	}
	o.Schedule = o.scheduleName()
	s.Products = cmp.Or(s.Products, layer.Float32.InForce())
	return o, s, nil
}

// Weights copies the weights to p.W, with Options.EMA their moving averages. It is an error if they
// are not the tensors of p.
func (c *Checkpoint) Weights(p *layer.Params) error { return c.copyTo(p, "", p.W) }

// Close releases the file.
func (c *Checkpoint) Close() error { return c.file.Close() }

// resume copies the optimizer's moments to those of one of the same kind, which then goes on after
// the checkpoint's steps.
func (c *Checkpoint) resume(p *layer.Params, o Optimizer) error {
	o.Resume(c.State.Step - c.State.Skipped)
	for _, m := range o.Moments() {
		if err := c.copyTo(p, m.Name, m.Values); err != nil {
			return err
		}
	}
	return nil
}

// copyTo copies the tensors of p with a prefix to their places in dst, a slice laid out as p.W.
func (c *Checkpoint) copyTo(p *layer.Params, prefix string, dst []float32) error {
	tensors, err := model.ParamTensors(c.file, p, prefix)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	for i, param := range p.List {
		if err := tensors[i].Float32s(dst[:param.Size()]); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		dst = dst[param.Size():]
	}
	return nil
}

// writeCheckpoint writes a checkpoint of the model in file, whose Info is replaced; it appears as a
// whole or not at all.
func writeCheckpoint(path string, file model.File, optimizer Optimizer, o Options, s State) error {
	file.Info = map[string]string{}
	for key, value := range map[string]any{keyOptions: o, keyState: s} {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("writing %s: %s: %w", path, key, err)
		}
		file.Info[key] = string(text)
	}
	meta, tensors, err := file.Encode()
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	params := file.Model.Params.List
	var moments []safetensors.Tensor
	at := 0
	for _, p := range params {
		end := at + p.Size()
		for _, m := range optimizer.Moments() {
			moments = append(moments, safetensors.Float32Tensor(m.Name+p.Name, p.Shape, m.Values[at:end]))
		}
		at = end
	}
	// Before the tokenizers, whose lengths are odd, so that all numbers are aligned.
	return safetensors.Write(path, meta, slices.Insert(tensors, len(params), moments...))
}

const (
	checkpointPrefix = "step-"
	checkpointSuffix = ".safetensors"
)

func checkpointName(step int) string {
	return fmt.Sprintf("%s%08d%s", checkpointPrefix, step, checkpointSuffix)
}

func checkpointPath(dir string, step int) string {
	return filepath.Join(dir, checkpointName(step))
}

// Checkpoints lists the checkpoints in a folder by their names, the oldest first; none if there is
// no such folder.
func Checkpoints(dir string) ([]string, error) {
	steps, err := checkpointSteps(dir)
	paths := make([]string, len(steps))
	for i, step := range steps {
		paths[i] = checkpointPath(dir, step)
	}
	return paths, err
}

// checkpointSteps lists the steps of a folder's checkpoints, in order.
func checkpointSteps(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var steps []int
	for _, e := range entries {
		digits, isStep := strings.CutPrefix(e.Name(), checkpointPrefix)
		digits, isFile := strings.CutSuffix(digits, checkpointSuffix)
		step, err := strconv.Atoi(digits)
		if isStep && isFile && err == nil && step >= 0 && e.Name() == checkpointName(step) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// Newest opens the newest checkpoint in a folder. If that one is damaged, the error says so and
// names the newest one that is not: a run goes on from it when the damaged file is taken away.
func Newest(dir string) (*Checkpoint, error) {
	paths, err := Checkpoints(dir)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("train: there is no checkpoint in %s", dir)
	}
	newest, older := paths[len(paths)-1], paths[:len(paths)-1]
	c, err := OpenCheckpoint(newest)
	if err == nil {
		return c, nil
	}
	if path := newestValid(older); path != "" {
		return nil, fmt.Errorf("the newest checkpoint is damaged: %w; remove it to go on from %s", err, path)
	}
	return nil, fmt.Errorf("the newest checkpoint is damaged, and there is no older one to go on from: %w", err)
}

// Best is the path of the checkpoint in a folder whose validation was the best, of the newest if
// there was none or it is no longer there. The error is that of Newest.
func Best(dir string) (string, error) {
	c, err := Newest(dir)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if best := checkpointPath(dir, c.State.Best.Step); c.State.Best.Step > 0 {
		if _, err := os.Stat(best); err == nil {
			return best, nil
		}
	}
	return c.Path, nil
}

// newestValid is the last of the paths, which are ordered as by Checkpoints, that is an undamaged
// checkpoint; "" if none is.
func newestValid(paths []string) string {
	for _, path := range slices.Backward(paths) {
		if c, err := OpenCheckpoint(path); err == nil {
			c.Close()
			return path
		}
	}
	return ""
}

// removeStale removes what killed runs left of checkpoints that they were writing. What stays only
// takes space.
func removeStale(dir string) {
	temporary, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range temporary {
		base, _, ok := strings.Cut(strings.TrimPrefix(e.Name(), "."), checkpointSuffix+".")
		if ok {
			safetensors.RemoveStale(filepath.Join(dir, base+checkpointSuffix))
		}
	}
}

// regular are the steps at which the run saves whatever happens, not because somebody stopped it
// there or a validation was good: these and the last one are what is averaged, so that a run that
// was interrupted ends in the same weights.
func (o Options) regular(steps []int) (regular []int) {
	for _, step := range steps {
		if o.SaveEvery > 0 && step%o.SaveEvery == 0 {
			regular = append(regular, step)
		}
	}
	return regular
}

// newest are the last n of steps.
func newest(steps []int, n int) []int { return steps[max(0, len(steps)-n):] }

// prune removes the checkpoints of a run but the newest ones, regular or not, and that of the best
// step. One that cannot be removed now is tried again after the next save.
func prune(o Options, best int) {
	steps, err := checkpointSteps(o.Dir)
	if err != nil {
		return
	}
	stay := append(append([]int{best}, newest(steps, o.Keep)...), newest(o.regular(steps), o.Keep)...)
	for _, step := range steps {
		if !slices.Contains(stay, step) {
			os.Remove(checkpointPath(o.Dir, step))
		}
	}
}
