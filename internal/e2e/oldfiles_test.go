package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/train"
)

// oldFiles is a model, a checkpoint and what they came from, as its README says.
const oldFiles = "../../testdata/tfm-1"

func TestOldModel(t *testing.T) {
	path := filepath.Join(oldFiles, "model.safetensors")
	f, err := model.Load(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Model.Config; c.DModel != 4 || c.Norm != model.PreNorm || c.Activation != model.GELU || f.Tokenizers["joint"] == nil {
		t.Errorf("%s: config %+v, %d tokenizers; want d_model 4, pre-norm, GELU and a joint tokenizer", path, c, len(f.Tokenizers))
	}
	wantDecoding(t, path, model.PaperDecoding())
	if mat.Kernel() == "generic" {
		t.Skip("portable kernels: exact to a tolerance only")
	}
	lines := strings.SplitAfter(read(t, filepath.Join(oldFiles, "train.src")), "\n")
	got := mustRun(t, lines[0]+lines[1], "translate", "-model", path).stdout
	if want := read(t, filepath.Join(oldFiles, "translations")); got != want {
		t.Errorf("%s translates to\n%s, expected\n%s", path, got, want)
	}
}

// An old checkpoint, resumed by this program, ends in the model that the old program ended in.
func TestOldCheckpoint(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.safetensors")
	dir := strings.TrimSuffix(m, ".safetensors") + ".ckpt"
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	const name = "step-00000004.safetensors"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(read(t, filepath.Join(oldFiles, name))), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := train.Newest(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	want := train.State{Step: 4, Position: train.Position{Epoch: 3, Batch: 1}, Trained: 9871148, Validated: 4, Data: "e1365c32c19ce088", Products: "float32",
		Best: train.Validation{Step: 4, Loss: 5.751001153673444, NLL: 5.721405792236328, HasBLEU: true, Took: 1296740}}
	if c.State != want {
		t.Errorf("%s: state\n%+v, expected\n%+v", c.Path, c.State, want)
	}
	if o := c.Options; o.BatchTokens != 300 || o.Optimizer != train.OptimizerAdamW || o.EMA != 0.9 || o.Search.Beam != 1 || o.Search.MaxExtra != 50 {
		t.Errorf("%s: options %+v, want 300 tokens, adamw, an EMA of 0.9, greedy search of at most 50 more", c.Path, o)
	}
	var args []string
	for _, side := range []string{"train.src", "train.tgt", "valid.src", "valid.tgt"} {
		flag := strings.ReplaceAll(strings.TrimPrefix(side, "train."), "valid.", "valid-")
		args = append(args, "-"+flag, filepath.Join(oldFiles, side))
	}
	mustRun(t, "", append(append([]string{"train"}, args...), "-o", m, "-resume", "-steps", "8")...)
	got := loadModel(t, m)
	old := loadModel(t, filepath.Join(oldFiles, "model.safetensors"))
	if got.Model.Config != old.Model.Config || !bytes.Equal(got.Tokenizers["joint"], old.Tokenizers["joint"]) {
		t.Errorf("config %+v, want %+v; or other tokenizers", got.Model.Config, old.Model.Config)
	}
	wantDecoding(t, m, model.PaperDecoding())
	if mat.Kernel() == "generic" {
		t.Skip("portable kernels: exact to a tolerance only")
	}
	for i, w := range old.Model.Params.W {
		if got.Model.Params.W[i] != w {
			t.Fatalf("weight %d is %v, want %v", i, got.Model.Params.W[i], w)
		}
	}
}
