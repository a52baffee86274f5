package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// variants are models that differ in the parameters they have.
func variants() map[string]model.Config {
	with := func(change func(c *model.Config)) model.Config {
		c := toy()
		change(&c)
		return c
	}
	return map[string]model.Config{
		"toy": toy(),
		"two vocabularies, pre-norm, biases": with(func(c *model.Config) {
			c.Tie, c.SrcVocab, c.TgtVocab, c.Norm, c.OutputBias = model.TieDecoder, 11, 45, model.PreNorm, true
		}),
		"nothing tied, learned positions": with(func(c *model.Config) {
			c.Tie, c.Positions, c.DModel, c.DFF = model.TieNone, model.Learned, 36, 70
		}),
		"no biases, wide": with(func(c *model.Config) {
			c.Biases, c.DModel, c.DFF, c.SrcVocab, c.TgtVocab = model.NoBiases, 64, 96, 200, 200
		}),
	}
}

// savePlain writes a plain model file and returns its path.
func savePlain(t *testing.T, m *model.Transformer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plain.safetensors")
	f := model.File{Model: m, Tokenizers: map[string][]byte{"joint": []byte("tokens")}, SrcLang: "en", TgtLang: "de", Info: map[string]string{"k": "v"}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadFile reads a model file, which is closed at the end of the test.
func loadFile(t *testing.T, path string, f Form, p *mat.Pool) File {
	t.Helper()
	file, err := Load(path, f, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Weights.Close() })
	return file
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The translations of a file in any form are those of the model in memory in the same form, and a
// file does not change by loading and saving.
func TestFilesOfAnyFormHaveTheSameTranslations(t *testing.T) {
	pool := mat.NewPool(2)
	defer pool.Close()
	o := Options{Beam: 4, Alpha: 0.6, MaxExtra: 8, NBest: 4}
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			m := perturbed(t, c, 1)
			plain := savePlain(t, m)
			want := map[Form][][]Hypothesis{}
			for _, f := range []Form{Float32, Int8} {
				want[f] = nBest(t, New(newWeights(m, f, nil), nil), randomSources(30, 0, 1), o)
			}
			check := func(what string, file File, f Form) {
				t.Helper()
				if got := nBest(t, New(file.Weights, pool), randomSources(30, 0, 1), o); file.Weights.Form() != f || !reflect.DeepEqual(got, want[f]) {
					t.Errorf("%s: translations in %v, want those of the model in %v", what, file.Weights.Form(), f)
				}
				h := file.Header
				if h.Config != c || h.SrcLang != "en" || h.TgtLang != "de" || h.Info["k"] != "v" || string(file.Tokenizers["joint"]) != "tokens" || len(file.Tokenizers) != 1 {
					t.Errorf("%s: header %+v, tokenizers %q", what, h, file.Tokenizers)
				}
			}
			path := filepath.Join(t.TempDir(), "decoding.safetensors")
			file := loadFile(t, plain, Float32, pool)
			check("plain file", file, Float32)
			if err := file.Save(path); err == nil {
				t.Error("weights in float32 are saved")
			}
			file = loadFile(t, plain, Int8, pool)
			check("plain file", file, Int8)
			if err := file.Save(path); err != nil {
				t.Fatal(err)
			}
			for _, again := range []Form{Float32, Int8} {
				file := loadFile(t, path, again, nil)
				check(fmt.Sprint("file in int8, loaded in ", again), file, Int8)
				if file.Header.Form != "int8" || file.Weights.release == nil {
					t.Errorf("form %q, want int8, mapped", file.Header.Form)
				}
				copied := path + "-again"
				if err := file.Save(copied); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(readAll(t, copied), readAll(t, path)) {
					t.Error("the file changes by loading and saving")
				}
			}
			if _, err := model.Load(path, false); err == nil || !strings.Contains(err.Error(), "of 'tfm quantize', which can only translate, expected float32") {
				t.Errorf("model.Load: error %v, want one that says why", err)
			}
		})
	}
}

// A quantized file of a model has a quarter of its size.
func TestSizeOfInt8(t *testing.T) {
	c := toy()
	c.DModel, c.DFF, c.SrcVocab, c.TgtVocab = 128, 512, 2000, 2000
	plain := savePlain(t, newModel(t, c))
	path := plain + "-int8"
	if err := loadFile(t, plain, Int8, nil).Save(path); err != nil {
		t.Fatal(err)
	}
	if got, whole := len(readAll(t, path)), len(readAll(t, plain)); float64(got) > 0.28*float64(whole) {
		t.Errorf("%d bytes of %d, want at most 28 %%", got, whole)
	}
}

// rewrite writes the model file at path with changed metadata and tensors, and returns the path.
func rewrite(t *testing.T, path string, change func(meta map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor) string {
	t.Helper()
	s, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	meta := s.Metadata()
	tensors := change(meta, s.Tensors())
	changed := filepath.Join(t.TempDir(), "changed.safetensors")
	if err := safetensors.Write(changed, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return changed
}

// Load returns an error that names the file, and the tensor if one is wrong.
func TestDamagedFilesForDecoding(t *testing.T) {
	m := newModel(t, variants()["nothing tied, learned positions"])
	plain := savePlain(t, m)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := loadFile(t, plain, Int8, nil).Save(path); err != nil {
		t.Fatal(err)
	}
	wantError := func(what, path string, parts ...string) {
		t.Helper()
		for _, form := range []Form{Float32, Int8} {
			_, err := Load(path, form, nil)
			for _, part := range append(parts, path) {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s: error %v, want %q", what, err, part)
				}
			}
		}
	}
	s, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, tensor := range s.Tensors() {
		if strings.HasPrefix(tensor.Name, "tokenizer.") || i%3 != 0 { // each file is synced
			continue
		}
		name := fmt.Sprintf("tensor %q", tensor.Name)
		change := func(f func(t *safetensors.Tensor)) string {
			return rewrite(t, path, func(_ map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor {
				tensors = slices.Clone(tensors)
				f(&tensors[i])
				return tensors
			})
		}
		wantError("missing", change(func(t *safetensors.Tensor) { t.Name = "x" }), name, "is missing")
		wantError("other dtype", change(func(t *safetensors.Tensor) {
			t.DType, t.Shape = "U8", []int{len(t.Data)}
		}), name, "found U8 of shape", "expected")
		wantError("one dimension", change(func(t *safetensors.Tensor) {
			t.DType, t.Shape = map[string]string{"F32": "I32", "I8": "I8"}[t.DType], append([]int{1}, t.Shape...)
		}), name, "of shape [1 ", "expected")
		wantError("empty", change(func(t *safetensors.Tensor) {
			t.Shape, t.Data = make([]int, len(t.Shape)), nil
		}), name, "of shape [0", "expected")
	}
	s.Close()
	wantError("unknown form", rewrite(t, path, func(meta map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor {
		meta["weights"] = "int4"
		return tensors
	}), `found weights "int4", expected "int8"`)
	wantError("a larger configuration", rewrite(t, path, func(meta map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor {
		c := m.Config
		c.SrcVocab, c.TgtVocab, c.DFF = 1<<24, 1<<24, 1<<24
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		meta["config"] = string(text)
		return tensors
	}), `tensor "source.embedding": found`, "expected")

	content := readAll(t, path)
	for _, n := range []int{0, 7, 100, len(content) / 2, len(content) - 1} {
		if err := os.WriteFile(path, content[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		wantError(fmt.Sprintf("truncated to %d bytes", n), path)
	}
	for at := len(content) - 1; at > 0; at -= len(content) / 50 {
		damaged := bytes.Clone(content)
		damaged[at] ^= 4
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		wantError(fmt.Sprintf("byte %d of %d altered", at, len(content)), path)
	}

	content = readAll(t, plain)
	content[len(content)/2] ^= 1
	if err := os.WriteFile(plain, content, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(plain, Float32, nil); err == nil || !strings.Contains(err.Error(), plain+": content has checksum") {
		t.Errorf("damaged plain file: error %v", err)
	}
	noChecksum := bytes.Replace(readAll(t, plain), []byte(`"checksum"`), []byte(`"checksun"`), 1)
	if err := os.WriteFile(plain, noChecksum, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(plain, Float32, nil); err == nil || !strings.Contains(err.Error(), plain+": no checksum") {
		t.Errorf("file without a checksum: error %v", err)
	}
}

// Load reads weights in bfloat16, and skips the other tensors of a checkpoint.
func TestLoadOtherDTypesAndTensors(t *testing.T) {
	m := newModel(t, toy())
	for i := range m.Params.W { // values of bfloat16
		m.Params.W[i] = float32(int(m.Params.W[i]*64)) / 64
	}
	want := translate(t, newDecoder(m, nil), randomSources(20, 0, 1), DefaultOptions())
	path := rewrite(t, savePlain(t, m), func(_ map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor {
		more := []safetensors.Tensor{safetensors.Float32Tensor("adam.m.embedding", []int{5}, make([]float32, 5))}
		for _, t := range tensors {
			if t.DType == "F32" {
				var halves []byte
				for i := 0; i < len(t.Data); i += 4 {
					halves = append(halves, t.Data[i+2], t.Data[i+3])
				}
				t.DType, t.Data = "BF16", halves
			}
			more = append(more, t)
		}
		return more
	})
	got := translate(t, New(loadFile(t, path, Float32, nil).Weights, nil), randomSources(20, 0, 1), DefaultOptions())
	if !reflect.DeepEqual(got, want) {
		t.Error("translations of bfloat16 differ")
	}
}

// Weights from Random can translate, in every form, and are the same each time.
func TestRandomWeights(t *testing.T) {
	for _, f := range []Form{Float32, Int8} {
		var lists [2][]Hypothesis
		for i := range lists {
			w, err := Random(toy(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			lists[i] = translate(t, New(w, nil), randomSources(5, 2, 1), Options{Beam: 2, MaxExtra: 3})
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error("second Close:", err)
			}
		}
		if !reflect.DeepEqual(lists[0], lists[1]) {
			t.Errorf("%v: translations differ", f)
		}
		for i, h := range lists[0] {
			if src := randomSources(5, 2, 1)[i]; !h.Truncated || len(h.Tokens) != len(src)+3 {
				t.Errorf("%v: %d tokens for a source of %d, truncated %t, want the limit", f, len(h.Tokens), len(src), h.Truncated)
			}
		}
	}
	if _, err := Random(model.Config{}, Float32, nil); err == nil {
		t.Error("no error for an invalid configuration")
	}
}
