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
// tensors, whose names are a prefix and that of a weight, and with Options and State as JSON in the
// metadata. It is all that a run needs to go on as if it had never stopped. With Options.EMA its
// weights are the moving averages, and the prefix of those that training goes on with is "raw.".
const (
	keyOptions = "train.options"
	keyState   = "train.state"
)

// State is the state of a run between two steps, except weights and moments.
type State struct {
	Step      int           `json:"step"`      // steps made
	Position  Position      `json:"position"`  // of the next batch
	Trained   time.Duration `json:"trained"`   // validations and saves included
	Validated int           `json:"validated"` // the step of the last validation, 0 if there was none
	Best      Validation    `json:"best"`      // Step 0 if there was none
	SinceBest int           `json:"since_best"`

	Skipped      int `json:"skipped"`        // steps whose update was dropped; the optimizer has made the others
	SkippedInRow int `json:"skipped_in_row"` // the last of them in a row, up to Step

	// OutOfTime is the Options.Time that ended the run, 0 if none did. A run that is resumed with
	// no more than that makes no further steps, so that it ends in the same weights: it would have
	// to measure anew how long a step and a save take.
	OutOfTime time.Duration `json:"out_of_time,omitempty"`

	Data     string `json:"data"`     // fingerprint of the training pairs
	Products string `json:"products"` // layer.Precision.Kernel, on which the weights depend
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

// readModel decodes the header, and checks that all weights of its configuration are in the file
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

// oldNames replaces the names that earlier versions gave to Options in JSON without white space.
// No other member of the object, at any depth, has such a name.
var oldNames = strings.NewReplacer(`"tokens":`, `"batch_tokens":`, `"peak":`, `"lr":`, `"decay":`, `"decay_steps":`, `"floor":`, `"min_lr":`, `"clip":`, `"clip_norm":`)

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
		if part.key == keyOptions {
			text = oldNames.Replace(text)
		}
		if err := strict.Unmarshal([]byte(text), part.value); err != nil {
			return o, s, fmt.Errorf("%s in the metadata: %w", part.key, err)
		}
	}
	o.Schedule = o.scheduleName()
	s.Products = cmp.Or(s.Products, layer.Float32.Kernel())
	return o, s, nil
}

// Weights copies the weights, with Options.EMA their moving averages, to p.W. Other tensors than
// p's are an error.
func (c *Checkpoint) Weights(p *layer.Params) error { return c.copyTo(p, "", p.W) }

// Close releases the file.
func (c *Checkpoint) Close() error { return c.file.Close() }

// resume copies the moments to an optimizer of the same kind, which then continues after the
// checkpoint's steps.
func (c *Checkpoint) resume(p *layer.Params, o Optimizer) error {
	o.Resume(c.State.Step - c.State.Skipped)
	for _, m := range o.Moments() {
		if err := c.copyTo(p, m.Name, m.Values); err != nil {
			return err
		}
	}
	return nil
}

// copyTo copies the tensors that are named as p's behind a prefix to dst, which is laid out as p.W.
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
	// Before the tokenizers, whose lengths are odd, so that all float32s are aligned.
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

// Newest opens the newest checkpoint in a folder. If that one is damaged, the error names the
// newest one that is not, from which a run goes on once the damaged file is removed.
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

// Best returns the path of the checkpoint of the best validation in a folder, or of the newest one
// if there was no validation or the best is no longer there. The error is that of Newest.
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

// newestValid returns the last of the paths, in the order of Checkpoints, that is an undamaged
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

// removeStale removes the temporary files of killed runs. It ignores errors, because such a file
// only takes space.
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

// periodic returns those of the steps at which a run saves in any case, and not because it was
// stopped there or a validation was good. They and the last one are averaged, so that a run that
// was interrupted ends in the same weights.
func (o Options) periodic(steps []int) (regular []int) {
	for _, step := range steps {
		if o.SaveEvery > 0 && step%o.SaveEvery == 0 {
			regular = append(regular, step)
		}
	}
	return regular
}

// newest returns the last n of steps.
func newest(steps []int, n int) []int { return steps[max(0, len(steps)-n):] }

// prune removes the checkpoints of a run except the newest ones, the newest regular ones, and that
// of the best step. One that cannot be removed is tried again after the next save.
func prune(o Options, best int) {
	steps, err := checkpointSteps(o.Dir)
	if err != nil {
		return
	}
	keep := append(append([]int{best}, newest(steps, o.Keep)...), newest(o.periodic(steps), o.Keep)...)
	for _, step := range steps {
		if !slices.Contains(keep, step) {
			os.Remove(checkpointPath(o.Dir, step))
		}
	}
}
