package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

// allocated returns the number of bytes that f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// Load, LoadHeader and LoadWithoutWeights allocate, garbage included, at most 32 bytes for each
// byte of the file plus 64 KB. Load may allocate 16 MB more to describe 2,000 layers, which is
// enough for the tables of positions in this test. Package safetensors has the same test for
// headers.
func TestLoadMemoryIsBoundedByFileSize(t *testing.T) {
	small := newModel(t, toy())
	meta, tensors, err := File{Model: small}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	// with returns the metadata with a changed configuration.
	with := func(change func(c *Config)) map[string]string {
		c := toy()
		change(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		m := maps.Clone(meta)
		m["config"] = string(text)
		return m
	}
	set := func(key, value string) map[string]string {
		m := maps.Clone(meta)
		m[key] = value
		return m
	}
	const mb = 1 << 20
	big := toy()
	big.SrcVocab, big.TgtVocab, big.DModel = 1000, 1000, 64
	halves := newModel(t, big)
	var bf16 []safetensors.Tensor
	for _, p := range halves.Params.List {
		bf16 = append(bf16, safetensors.Tensor{Name: p.Name, DType: "BF16", Shape: p.Shape, Data: make([]byte, 2*p.Size())})
	}
	wide := toy()
	wide.DModel, wide.Heads, wide.DK, wide.DV, wide.DFF, wide.EncoderLayers, wide.DecoderLayers = 1<<15, 1, 1, 1, 1, 1, 1
	_, wideTensors, err := File{Model: newModel(t, wide)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var empty []safetensors.Tensor
	for _, p := range small.Params.List {
		empty = append(empty, safetensors.Tensor{Name: p.Name, DType: "F32", Shape: []int{0, 1 << 28}})
	}
	tokenizers := []safetensors.Tensor{{Name: "tokenizer.joint", DType: "U8", Shape: []int{4 * mb}, Data: make([]byte, 4*mb)}}
	for i := range 5000 {
		tokenizers = append(tokenizers, safetensors.Tensor{Name: fmt.Sprintf("tokenizer.%d", i), DType: "U8", Shape: []int{1}, Data: []byte{1}})
	}
	for _, c := range []struct {
		name    string
		meta    map[string]string
		tensors []safetensors.Tensor
		valid   bool
	}{
		{"valid", meta, tensors, true},
		{"weights in bfloat16", with(func(c *Config) { *c = big }), bf16, true},
		{"a wide model", with(func(c *Config) { *c = wide }), wideTensors, true},
		{"a wide model with 8 GB of positions", with(func(c *Config) { *c = wide; c.MaxLen = 1 << 16 }), wideTensors, false},
		{"2,000 layers", with(func(c *Config) { c.EncoderLayers, c.DecoderLayers = 1000, 1000 }), tensors, false},
		{"vocabularies of 16 million", with(func(c *Config) { c.SrcVocab, c.TgtVocab = 1<<24, 1<<24 }), tensors, false},
		{"d_model of a million", with(func(c *Config) { c.DModel = 1 << 20 }), tensors, false},
		{"a million heads", with(func(c *Config) { c.Heads, c.DK, c.DV = 1<<20, 16, 16 }), tensors, false},
		{"d_ff of 16 million", with(func(c *Config) { c.DFF = 1 << 24 }), tensors, false},
		{"learned positions", with(func(c *Config) { c.Positions, c.MaxLen = Learned, 1<<16 }), tensors, false},
		{"tensors without elements", meta, empty, false},
		{"no tensors", meta, nil, false},
		{"tokenizers", meta, append(tokenizers, tensors...), true},
		{"tokenizer of dtype F32", meta, append([]safetensors.Tensor{{Name: "tokenizer.joint", DType: "F32", Shape: []int{mb}, Data: make([]byte, 4*mb)}}, tensors...), false},
		{"nested configuration", set("config", `{"heads":`+strings.Repeat("[", mb)), tensors, false},
		{"nested and closed", set("config", `{"heads":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"}"), tensors, false},
		{"configuration of spaces", set("config", meta["config"]+strings.Repeat(" ", mb)), tensors, true},
		{"long field", set("config", `{"`+strings.Repeat("a", mb)+`":1}`), tensors, false},
		{"long number", set("config", `{"heads":`+strings.Repeat("1", mb)+`}`), tensors, false},
		{"long name", set("config", `{"activation":"`+strings.Repeat("a", mb)+`"}`), tensors, false},
		{"long tie", set("config", strings.Replace(meta["config"], `"tie":"all"`, `"tie":"`+strings.Repeat("a", mb)+`"`, 1)), tensors, false},
		{"many fields", set("config", "{"+strings.Repeat(`"heads":4,`, mb/10)+`"heads":4}`), tensors, false},
		{"long format", set("format", strings.Repeat("a", mb)), tensors, false},
		{"long language", set("src_lang", strings.Repeat("a", mb)), tensors, false},
		{"many language variants", set("src_lang", "de"+strings.Repeat("-abcde", mb/6)), tensors, false},
		{"long info", set("training", strings.Repeat("a", mb)), tensors, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m.safetensors")
			if err := safetensors.Write(path, c.meta, c.tensors); err != nil {
				t.Fatal(err)
			}
			size := fileSize(t, path)
			for _, read := range []struct {
				name string
				f    func() error
			}{
				{"Load", func() error { _, err := Load(path, true); return err }},
				{"LoadHeader", func() error { _, err := LoadHeader(path); return err }},
				{"LoadWithoutWeights", func() error { _, _, err := LoadWithoutWeights(path); return err }},
			} {
				var err error
				used := allocated(func() { err = read.f() })
				if read.name == "Load" && (err == nil) != c.valid {
					t.Errorf("%s: error %v, want one: %t", read.name, err, !c.valid)
				}
				if err != nil && len(err.Error()) > len(path)+600 {
					t.Errorf("%s: error of %d bytes, want at most 600 plus the path", read.name, len(err.Error()))
				}
				limit := 32*size + 64<<10
				if read.name == "Load" {
					limit += 16 * mb
				}
				if used > limit {
					t.Errorf("%s: allocated %d bytes for a file of %d, want at most %d", read.name, used, size, limit)
				}
			}
		})
	}
}

func fileSize(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}
