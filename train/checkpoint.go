package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/internal/strict"
	"tfm/layer"
	"tfm/model"
	"tfm/model/safetensors"
)

// A checkpoint is a model file that contains all state that a run needs to continue: further
// tensors for the optimizer's moments, named by a prefix and the name of a weight, and Options and
// State as JSON in the metadata.
const (
	keyOptions = "train.options"
	keyState   = "train.state"
)

// Checkpoint is an open checkpoint. Its file has all weights of Config. Close it after use. It is
// safe for concurrent reading. model.LoadWithoutWeights reads the tokenizers of the file.
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
	return openCheckpoint(path, (*safetensors.File).Verify)
}

// OpenPart opens a file of a round. Its weights and moments are verified when they are read, and
// nothing else is read.
func OpenPart(path string) (*Checkpoint, error) {
	return openCheckpoint(path, func(*safetensors.File) error { return nil })
}

func openCheckpoint(path string, verify func(*safetensors.File) error) (*Checkpoint, error) {
	c, err := openModel(path, verify)
	if err != nil {
		return nil, err
	}
	if c.Options, c.State, err = decodeRun(c.file.Metadata()); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// openModel opens and verifies a model file, checkpoint or not.
func openModel(path string, verify func(*safetensors.File) error) (*Checkpoint, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	if err := verify(file); err != nil {
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

// readModel decodes the header and checks that the file has all weights of its configuration,
// before memory for them is allocated.
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
	_, err = model.ParamTensors(c.file, t.Params.List, "")
	return err
}

// decodeRun decodes the metadata of a checkpoint that a plain model file does not have.
func decodeRun(meta map[string]string) (o Options, s State, err error) {
	for _, entry := range []struct {
		key   string
		value any
	}{{keyOptions, &o}, {keyState, &s}} {
		text, ok := meta[entry.key]
		if !ok {
			return o, s, fmt.Errorf("not a checkpoint: its metadata has no %s", entry.key)
		}
		if err := strict.Unmarshal([]byte(text), entry.value); err != nil {
			return o, s, fmt.Errorf("%s in the metadata: %w", entry.key, err)
		}
	}
	return o, s, nil
}

// Weights copies the weights to p.W. It fails if names or shapes differ from p's.
func (c *Checkpoint) Weights(p *layer.Params) error { return c.copyTo(p.List, "", p.W) }

// Close releases the file.
func (c *Checkpoint) Close() error { return c.file.Close() }

// resume sets an optimizer of the same kind to the moments and the steps of the checkpoint.
func (c *Checkpoint) resume(p *layer.Params, o Optimizer) error {
	o.Resume(c.State.Step)
	for _, m := range o.Moments() {
		if err := c.copyTo(m.params(p.List), m.Name, m.Values); err != nil {
			return err
		}
	}
	return nil
}

// copyTo copies the tensors named by prefix and the names of params to dst, one after another.
func (c *Checkpoint) copyTo(params []*layer.Param, prefix string, dst []float32) error {
	tensors, err := model.ParamTensors(c.file, params, prefix)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	for i, param := range params {
		if err := tensors[i].Float32s(dst[:param.Size()]); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		dst = dst[param.Size():]
	}
	return nil
}

// partWeights copies the weights of a file of a round to p.W, and verifies them.
func (c *Checkpoint) partWeights(p *layer.Params) error {
	if err := c.Weights(p); err != nil {
		return err
	}
	return c.verifySum(nameOfWeights, p.W)
}

// partMoments copies moments of a file of a round, and verifies them.
func (c *Checkpoint) partMoments(p *layer.Params, moments []Moment) error {
	for _, m := range moments {
		if err := c.copyTo(m.params(p.List), m.Name, m.Values); err != nil {
			return err
		}
		if err := c.verifySum(m.Name, m.Values); err != nil {
			return err
		}
	}
	return nil
}

// verifySum compares a checksum of the file with that of values.
func (c *Checkpoint) verifySum(name string, values []float32) error {
	meta := c.file.Metadata()
	if sum := sumOf(meta[keyOptions]+meta[keyState], name, values); !slices.Contains(strings.Fields(meta[keySums]), sum) {
		return fmt.Errorf("%s: found %s, expected a checksum in %q of the header: the file was damaged or altered", c.Path, sum, meta[keySums])
	}
	return nil
}

// SourceKey is the key of model.File.Info for Options.Imported.
const SourceKey = "source"

// writeCheckpoint writes a checkpoint of the model in file, whose Info it replaces. The write is
// atomic.
func writeCheckpoint(path string, file model.File, moments []Moment, o Options, s State) error {
	file.Info = map[string]string{}
	for key, value := range map[string]any{keyOptions: o, keyState: s} {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("writing %s: %s: %w", path, key, err)
		}
		file.Info[key] = string(text)
	}
	if o.Imported != "" {
		file.Info[SourceKey] = o.Imported
	}
	if o.Rounds.Workers > 0 {
		file.Info[keySums] = sumsOf(file.Info[keyOptions]+file.Info[keyState], file.Model.Params.W, moments)
	}
	meta, tensors, err := file.Encode()
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	params := file.Model.Params.List
	var state []safetensors.Tensor
	for _, m := range moments {
		at := 0
		for _, p := range m.params(params) {
			end := at + p.Size()
			state = append(state, safetensors.Float32Tensor(m.Name+p.Name, p.Shape, m.Values[at:end]))
			at = end
		}
	}
	// The moments precede the tokenizers, whose lengths are arbitrary, so that all float32s are
	// aligned.
	return safetensors.Write(path, meta, slices.Insert(tensors, len(params), state...))
}

// Newest opens the newest checkpoint in a folder. If it is damaged, the error names the newest
// valid one, from which a run can be resumed after the damaged file is removed.
func Newest(dir string) (*Checkpoint, error) {
	paths, err := Checkpoints(dir)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("train: found no checkpoint in %s", dir)
	}
	newest, older := paths[len(paths)-1], paths[:len(paths)-1]
	c, err := OpenCheckpoint(newest)
	if err == nil {
		return c, nil
	}
	for _, path := range slices.Backward(older) {
		if c, damage := OpenCheckpoint(path); damage == nil {
			c.Close()
			return nil, fmt.Errorf("the newest checkpoint is damaged: %w; remove it to resume from %s", err, path)
		}
	}
	return nil, fmt.Errorf("the newest checkpoint is damaged and there is no valid older one: %w", err)
}

// Best returns the path of the best checkpoint in a folder, or of the newest one if the run had no
// validation or the best does not exist. The error is that of Newest.
func Best(dir string) (string, error) {
	c, err := Newest(dir)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if best := checkpointPath(dir, c.State.Best.Step); c.State.Best.Made() {
		if _, err := os.Stat(best); err == nil {
			return best, nil
		}
	}
	return c.Path, nil
}

// removeStale removes the temporary files of killed runs. It ignores errors, because such files are
// harmless.
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

// prune removes checkpoints except the newest Options.Keep, the newest Options.Keep periodic ones,
// and that of the best step. If a removal fails, the next save tries again.
func prune(o Options, best int) {
	steps, err := o.checkpointSteps()
	if err != nil {
		return
	}
	keep := append(append([]int{best}, newest(steps, o.Keep)...), newest(o.periodic(steps), o.Keep)...)
	for _, step := range steps {
		if !slices.Contains(keep, step) {
			os.Remove(o.checkpointPath(step))
		}
	}
}
