package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

// saveFiles writes files to a new folder and returns its path.
func saveFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

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
	return readFile(t, path)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The model file of pickled weights is that of the same weights as safetensors, whose folder has
// both.
func TestMarianHFOfPyTorch(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{hfConfigFile, hfGenerationFile, hfVocabFile, tokenizerConfigFile, hfTorchFile, hfSourceFile, hfTargetFile} {
		files[name] = readFile(t, filepath.Join("testdata", "marian-half", name))
	}
	var saved []string
	for _, dir := range []string{"testdata/marian-half", saveFiles(t, files)} {
		f, err := ReadMarianHF(dir)
		if err != nil {
			t.Fatal(err)
		}
		f.Info["source"] = "" // the name of the folder
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, readFile(t, path))
	}
	if saved[0] != saved[1] {
		t.Error("the model files differ")
	}
}

// A file of torch.save is no model without a folder around it.
func TestDetectWeights(t *testing.T) {
	const legacy = "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
	dir := saveFiles(t, map[string]string{"a.pt": legacy + "cargparse\nNamespace\n", "b.txt": "text"})
	for path, want := range map[string]string{
		"../torchfile/testdata/small-zip-4.pt": "found weights of PyTorch without their model's settings, expected a folder with both",
		filepath.Join(dir, "a.pt"):             `not readable either: pickle with the version: found the name "argparse.Namespace"`,
		filepath.Join(dir, "b.txt"):            "found no model of another system",
	} {
		_, err := Detect(path)
		checkError(t, path, err, want)
	}
}

// Weights are in one file or in those of an index, as safetensors or of PyTorch.
func TestHFWeights(t *testing.T) {
	const torchSmall = "../torchfile/testdata/small-"
	one, two := safetensorsOf(t, "a", "b"), safetensorsOf(t, "c")
	zipped, legacy := readFile(t, torchSmall+"zip-4.pt"), readFile(t, torchSmall+"legacy-4.pt")
	for name, c := range map[string]struct {
		files map[string]string
		names string // of tensors of two or three elements
		want  string // error
	}{
		"safetensors": {map[string]string{"model.safetensors": one, "pytorch_model.bin": "damaged"}, "a b", ""},
		"zip":         {map[string]string{"pytorch_model.bin": zipped}, "bias", ""},
		"legacy":      {map[string]string{"pytorch_model.bin": legacy}, "bias", ""},
		"index": {map[string]string{"1.safetensors": one, "2.safetensors": two,
			"model.safetensors.index.json": index(t, map[string]string{"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors"})}, "a b c", ""},
		"index of PyTorch": {map[string]string{"1.bin": zipped, "2.safetensors": two,
			"pytorch_model.bin.index.json": index(t, map[string]string{"weight": "1.bin", "bias": "1.bin", "c": "2.safetensors"})}, "bias c", ""},
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
		f, err := openFolder(saveFiles(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		w, err := openHFWeights(f)
		if c.want != "" {
			checkError(t, name, err, c.want)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, tensor := range strings.Fields(c.names) {
			if x := w.values(tensor, w.shape(tensor, 1)...); len(x) < 2 || x[0] == 0 || w.err != nil {
				t.Errorf("%s: tensor %s is %v, error %v", name, tensor, x, w.err)
			}
		}
		w.close()
	}
}
