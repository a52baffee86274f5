package hf

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/safetensors"
	"tfm/model/torchfile"
)

// index returns an index of files.
func index(t *testing.T, fileOf map[string]string) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"weight_map": fileOf})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// safetensorsOf returns a safetensors file with a tensor [2] of each name.
func safetensorsOf(t *testing.T, names ...string) string {
	t.Helper()
	var tensors []safetensors.Tensor
	for _, name := range names {
		tensors = append(tensors, safetensors.Float32Tensor(name, []int{2}, []float32{1, 2}))
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := safetensors.Write(path, nil, tensors); err != nil {
		t.Fatal(err)
	}
	return parttest.ReadFile(t, path)
}

// The model file of pickled weights is that of the same weights as safetensors, whose folder has
// both.
func TestMarianHFOfPyTorch(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{ConfigFile, generationFile, vocabFile, parts.TokenizerConfigFile, torchFile, sourceFile, targetFile} {
		files[name] = parttest.ReadFile(t, filepath.Join("../testdata", "marian-half", name))
	}
	var saved []string
	for _, dir := range []string{"../testdata/marian-half", parttest.SaveFiles(t, files)} {
		f, err := ReadMarian(dir)
		if err != nil {
			t.Fatal(err)
		}
		f.Info["source"] = "" // the name of the folder
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, parttest.ReadFile(t, path))
	}
	if saved[0] != saved[1] {
		t.Error("the model files differ")
	}
}

// Weights are in one file or in those of an index, as safetensors or of PyTorch.
func TestHFWeights(t *testing.T) {
	const torchWhole = "../../torchfile/testdata/whole-"
	one, two := safetensorsOf(t, "a", "b"), safetensorsOf(t, "c")
	zipped, legacy := parttest.ReadFile(t, torchWhole+"zip.pt"), parttest.ReadFile(t, torchWhole+"legacy.pt")
	inBoth := map[string]string{"c": "2.safetensors"}
	whole, err := torchfile.Open(torchWhole + "zip.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for _, x := range whole.Tensors() {
		inBoth[x.Name] = "1.bin"
	}
	for name, c := range map[string]struct {
		files map[string]string
		names string // of tensors of two or three elements
		want  string // error
	}{
		"safetensors": {map[string]string{"model.safetensors": one, "pytorch_model.bin": "damaged"}, "a b", ""},
		"zip":         {map[string]string{"pytorch_model.bin": zipped}, "model.bf16", ""},
		"legacy":      {map[string]string{"pytorch_model.bin": legacy}, "model.bf16", ""},
		"index": {map[string]string{"1.safetensors": one, "2.safetensors": two,
			"model.safetensors.index.json": index(t, map[string]string{"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors"})}, "a b c", ""},
		"index of PyTorch": {map[string]string{"1.bin": zipped, "2.safetensors": two,
			"pytorch_model.bin.index.json": index(t, inBoth)}, "model.bf16 c", ""},
		"none":          {nil, "", "found no weights, expected model.safetensors, pytorch_model.bin or their files with an index"},
		"damaged":       {map[string]string{"pytorch_model.bin": "damaged"}, "", "pytorch_model.bin: found no file of torch.save"},
		"damaged index": {map[string]string{"pytorch_model.bin.index.json": "{"}, "", "pytorch_model.bin.index.json: unexpected end"},
		"absent file":   {map[string]string{"pytorch_model.bin.index.json": index(t, map[string]string{"a": "1.bin"})}, "", `index.json: found the file "1.bin", expected one in the folder`},
		"path":          {map[string]string{"model.safetensors.index.json": index(t, map[string]string{"a": "../1.bin"})}, "", `found the file "../1.bin", expected one in the folder`},
		"absent tensor": {map[string]string{"1.safetensors": one, "model.safetensors.index.json": index(t, map[string]string{"a": "1.safetensors", "b": "1.safetensors", "x": "1.safetensors"})},
			"", `tensor "x": missing in 1.safetensors`},
		"further tensor": {map[string]string{"2.safetensors": two, "1.safetensors": one, "model.safetensors.index.json": index(t, map[string]string{"a": "1.safetensors", "b": "1.safetensors", "x": "2.safetensors"})},
			"", `tensor "c": found in 2.safetensors, expected only tensors of the index`},
		"in two files": {map[string]string{"2.safetensors": one, "1.safetensors": one, "model.safetensors.index.json": index(t, map[string]string{"a": "1.safetensors", "b": "2.safetensors"})},
			"", `tensor "a": found twice`},
	} {
		f, err := parts.OpenFolder(parttest.SaveFiles(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		w, err := openWeights(f)
		if c.want != "" {
			parttest.CheckError(t, name, err, c.want)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, tensor := range strings.Fields(c.names) {
			if x := w.Values(tensor, w.Shape(tensor, 1)...); len(x) < 2 || x[0] == 0 || w.Err != nil {
				t.Errorf("%s: tensor %s is %v, error %v", name, tensor, x, w.Err)
			}
		}
		w.close()
	}
}
